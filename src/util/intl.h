/* intl: marks the texts that people read, so that they can be translated. */
#ifndef NVMTOP_UTIL_INTL_H
#define NVMTOP_UTIL_INTL_H

#if ENABLE_NLS
#include <libintl.h>
/* By name: in the library the default domain belongs to the host program. */
#define _(text) dgettext(PACKAGE, text)
#define P_(one, many, n) dngettext(PACKAGE, one, many, n)
#else
#define _(text) (text)
#define P_(one, many, n) ((n) == 1 ? (one) : (many))
#endif
#define N_(text) text

#endif
