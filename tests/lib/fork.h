/* fork: whether a child of fork() may allocate. AddressSanitizer's allocator (gcc before 14) does not survive a fork() of a
 * program with threads. */
#ifndef NVMTOP_TESTS_LIB_FORK_H
#define NVMTOP_TESTS_LIB_FORK_H

#define FORK_ALLOCATES 1
#if defined(__SANITIZE_ADDRESS__)
#undef FORK_ALLOCATES
#define FORK_ALLOCATES 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#undef FORK_ALLOCATES
#define FORK_ALLOCATES 0
#endif
#endif

#endif
