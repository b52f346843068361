/* nvtx-client: NVTX of a program that marks, without NVIDIA's headers. */
#ifndef NVMTOP_NSYS_NVTX_CLIENT_H
#define NVMTOP_NSYS_NVTX_CLIENT_H

#include <stdbool.h>

#define NVTX_VERSION 3

/* Has the tool fill in its functions. tool: as dlopen() returned it for $NVTX_INJECTION64_PATH, NULL included;
 * it stays loaded. Returns false if it is no tool of NVTX, or declines. */
bool nvtx_begin(void *tool);
/* Returns a function of the tool, by the numbers that NVTX gives to modules and their functions; NULL if the
 * tool lacks it. */
void *nvtx_function(int module, int number);

#endif
