/* wave: a signal as an arithmetic expression of time, for made-up boards.
 *
 * A wave is a pure function of (time, row): no state, no clock, no random
 * numbers.  The same text gives the same values on every machine (to the last
 * bit of a sine or an exponential), and asked twice it answers the same.
 *
 *   expression   12  0.5  1e3      numbers; with a suffix 250us 33.3ms 8s, 40k 7M 1.3G (powers of 1000)
 *                gpu.util          a channel of the same row, by its name
 *                [Package id 0]    the same for a name with blanks or signs in it
 *                t  pi  nan        seconds since the start; 3.14159...; a missing value
 *                ( )  [ ]          then, from what binds most:  - !   * /   + -   < <= > >= == !=   &&   ||
 *
 * Comparisons and ! && || give 1 or 0, and whatever is not 0 is true.  nan in
 * gives nan out, everywhere but in known() and in the branch that if() does not take.
 * x / 0 is nan.  Both sides of && and || and both branches of if() are computed.
 *
 *   numbers      abs(x)  floor(x)  sqrt(x)  exp(x)
 *                round(x[, step])             to the nearest multiple of step (1)
 *                mod(x, y)                    the rest, 0 <= rest < y
 *                min(x, ...)  max(x, ...)     clamp(x, low, high)
 *                mix(a, b, k)                 a where k is 0, b where it is 1, a line between and beyond
 *                if(condition, a, b)
 *                between(x, a, b)             1 where a <= x < b, else 0
 *                known(x)                     1, or 0 where x is nan
 *
 * Waves repeat after `period` seconds.  `shift` (0) moves one that many seconds
 * later; `duty` (0.5) is the part of the period that is high.
 *
 *   waves        sin(period[, shift])                     -1 .. 1, starting upwards at 0
 *                saw(period[, shift])                     0 up to 1, and back at once
 *                tri(period[, shift])                     0 up to 1 and down to 0
 *                square(period[, duty[, shift]])          1, then 0
 *                pulse(period, width[, shift])            1 for width seconds, then 0
 *                cycle(period[, shift])                   seconds since this period began, 0 .. period
 *                step(period, a, b, ...)                  each value for an equal part of the period
 *                rise(period, duty, tau[, shift])         square() behind a lag: nears 1, then 0,
 *                                                         by exp(-time/tau)
 *
 * Curves through points (time in the period, value): the times rise from
 * 0 <= t0 to < period, at most 32 points, and every argument is constant.
 * What comes before the first point is what the last one leaves.
 *
 *   curves       hold(period, t0, a, t1, b, ...)          a from t0, b from t1, ...
 *                track(period, t0, a, t1, b, ...)         straight lines through the points, also from
 *                                                         the last to the first
 *                settle(period, tau, t0, a, t1, b, ...)   hold() behind a lag: from t0 on it nears a by
 *                                                         exp(-time/tau); each period begins where the
 *                                                         one before it ended
 *
 * Noise is a hash of `seed` (a whole number) and of how many times `hold`
 * seconds have passed; another seed is another, independent noise.
 *
 *   noise        noise(seed, hold)                        0 .. 1, evenly, a new value every hold seconds
 *                smooth(seed, hold)                       the same values with a smooth curve between them
 *                bell(seed, hold)                         mean 0, standard deviation 1, within +-3.47;
 *                                                         held like noise()
 *                spike(seed, slot, width[, chance])       1 for width seconds at a random place in each
 *                                                         `slot` seconds, or in a share of `chance` (1)
 *                                                         of those slots; else 0
 *
 * A period, hold, slot, step or tau that is not above 0 is an error when it is
 * constant, and nan otherwise.
 *
 * Limits: 66 arguments of min, max and step, WAVE_TEXT bytes, WAVE_DEPTH nested
 * brackets, calls and signs, WAVE_OPS operations, WAVE_STACK values at once.  One
 * value takes some 4 ns an operation. */
#ifndef NVMTOP_WAVE_H
#define NVMTOP_WAVE_H

#include "nvmtop/err.h"

#define WAVE_TEXT  4096
#define WAVE_DEPTH 32
#define WAVE_OPS   1024
#define WAVE_STACK 128

struct wave;

/* column(arg, name) says where in the row a channel stands, -1 when there is no
 * such channel.  NULL with *e: the sentence gives the column of the text (bytes,
 * from 1) and what was expected there. */
struct wave *wave_compile(const char *text, int (*column)(void *arg, const char *channel_name), void *arg,
			  struct err *e);
/* The value at t_s seconds after the start.  Touches nothing but the columns of
 * row that the text names; allocates nothing. */
double wave_value(const struct wave *w, double t_s, const double *row);
void wave_free(struct wave *w);

#endif
