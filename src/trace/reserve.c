/* Completing a recording appends to the part what is still beside it.  On a full
 * disk there is no place for that any more, so it is taken while there is, and
 * kept as many bytes ahead as the end would need at this moment.  Blocks behind
 * the end of a file are not part of it; the join gives back what is left over. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/resource.h>

#include "trace/reserve.h"

/* How large a file may become, as the process is limited. */
static off_t file_limit(void)
{
	const off_t most = (off_t)(((uintmax_t)1 << (sizeof(off_t) * 8 - 2)));
	struct rlimit l;

	if (getrlimit(RLIMIT_FSIZE, &l) < 0 || l.rlim_cur == RLIM_INFINITY || l.rlim_cur > (rlim_t)most)
		return most;
	return (off_t)l.rlim_cur;
}

int reserve_take(struct reserve *r, off_t need)
{
	off_t limit, want;

	if (need <= r->have)
		return 0;
	limit = file_limit();
	if (need > limit) {
		errno = EFBIG;
		return -1;
	}
	want = need + r->step < limit ? need + r->step : limit;
	while (fallocate(r->fd, FALLOC_FL_KEEP_SIZE, r->have, want - r->have) < 0) {
		if (errno == EINTR)
			continue;
		if (errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL || errno == ENODEV)
			break;
		if (want == need)
			return -1;
		want = need;
	}
	r->have = want;
	return 0;
}
