/* intl: marks user-visible texts for translation. */
#ifndef NVMTOP_UTIL_INTL_H
#define NVMTOP_UTIL_INTL_H

#if ENABLE_NLS
#include <libintl.h>
/* With an explicit domain: in the library the default domain belongs to the host program. */
#define _(text) dgettext(PACKAGE, text)
#define P_(one, many, n) dngettext(PACKAGE, one, many, n)
#else
#define _(text) (text)
#define P_(one, many, n) ((n) == 1 ? (one) : (many))
#endif
#define N_(text) text

#endif
