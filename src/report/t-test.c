/* Student's t from its density: with t = sqrt(df) tan(x) it is a power of the cosine, and Simpson's rule does for any
 * number of degrees of freedom. No table. */
#include <math.h>

#include "report/stats.h"

#define STEPS 400
#define FAR   12 /* standard deviations; what is beyond is below 1e-31 */

/* Two-sided probability of t, and its derivative. */
static double student_p(double t, double df, double *slope)
{
	double from = atan(fabs(t) / sqrt(df)), to = fmin(M_PI_2, from + FAR / sqrt(df)), sum = 0;
	double factor = -2 / sqrt(M_PI) * exp(lgamma((df + 1) / 2) - lgamma(df / 2));

	for (int i = 0; i <= STEPS; i++) {
		double weight = i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2;

		sum += weight * pow(fmax(0, cos(from + (to - from) * i / STEPS)), df - 1);
	}
	*slope = factor / sqrt(df) * pow(cos(from), df + 1);
	return -factor * sum * (to - from) / STEPS / 3;
}

double student_t(double df)
{
	double t = 1.959963984540054, step = 1, slope; /* that of df without end, the minimum */

	if (!(df >= 1))
		return NAN;
	/* The probability is convex: Newton's steps do not go too far. */
	for (int i = 0; df < 1e6 && i < 50 && fabs(step) > 1e-12; i++) {
		step = (student_p(t, df, &slope) - 0.05) / slope;
		t -= step;
	}
	return t;
}

double welch(double sd1, uint64_t n1, double sd2, uint64_t n2, double difference, double *p)
{
	double v1 = sd1 * sd1 / (double)n1, v2 = sd2 * sd2 / (double)n2, df, slope;

	*p = NAN;
	if (n1 < 2 || n2 < 2)
		return NAN;
	*p = difference == 0;
	if (v1 + v2 == 0)
		return 0;
	df = (v1 + v2) * (v1 + v2) / (v1 * v1 / (double)(n1 - 1) + v2 * v2 / (double)(n2 - 1));
	*p = student_p(difference / sqrt(v1 + v2), df, &slope);
	return student_t(df) * sqrt(v1 + v2);
}
