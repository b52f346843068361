/* terms: the comparisons of a condition one by one, for its two users. */
#ifndef BASE_TERMS_H
#define BASE_TERMS_H

#include "nvmtop/condition.h"

bool term_compare(const struct condition_term *t, double x); /* NaN: false */
/* What the row at t_ns says about comparison i. */
void term_note(struct condition_eval *v, size_t i, int64_t t_ns, bool is);
/* Whether all of it holds at t_ns, by what was noted so far. */
bool terms_hold(const struct condition_eval *v, int64_t t_ns);

#endif
