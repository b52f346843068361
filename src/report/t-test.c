/* Student's t from its distribution function, an incomplete beta integral computed by Lentz's continued
 * fraction and inverted by bisection: no table, any number of degrees of freedom. */
#include <math.h>

#include "report/stats.h"

static double not_zero(double v)
{
	return fabs(v) < 1e-300 ? 1e-300 : v;
}

/* The next term of the fraction: a factor of its value. */
static double term(double *c, double *d, double v)
{
	*d = 1 / not_zero(1 + v * *d);
	*c = not_zero(1 + v / *c);
	return *c * *d;
}

static double fraction(double a, double b, double x)
{
	double c = 1, d = 1 / not_zero(1 - (a + b) * x / (a + 1)), h = d, factor;

	for (int m = 1; m < 300; m++) {
		h *= term(&c, &d, m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)));
		factor = term(&c, &d, -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)));
		h *= factor;
		if (fabs(factor - 1) < 1e-15)
			break;
	}
	return h;
}

/* I_x(a, b) */
static double beta(double a, double b, double x)
{
	double front;

	if (x <= 0 || x >= 1)
		return x <= 0 ? 0 : 1;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * fraction(a, b, x) / a;
	return 1 - front * fraction(b, a, 1 - x) / b;
}

/* Two-sided probability of t. */
static double student_p(double t, double df)
{
	return beta(df / 2, 0.5, df / (df + t * t));
}

double student_t(double df)
{
	double lo = 0, hi = 13; /* 12.7 for one degree of freedom, the minimum */

	if (!(df >= 1))
		return NAN;
	if (df > 1e6)
		return 1.959963984540054;
	for (int i = 0; i < 200; i++) {
		double t = lo + (hi - lo) / 2;

		if (student_p(t, df) > 0.05)
			lo = t;
		else
			hi = t;
	}
	return lo + (hi - lo) / 2;
}

double welch(double sd1, uint64_t n1, double sd2, uint64_t n2, double difference, double *p)
{
	double v1 = sd1 * sd1 / (double)n1, v2 = sd2 * sd2 / (double)n2, df;

	*p = NAN;
	if (n1 < 2 || n2 < 2)
		return NAN;
	*p = difference == 0;
	if (v1 + v2 == 0)
		return 0;
	df = (v1 + v2) * (v1 + v2) / (v1 * v1 / (double)(n1 - 1) + v2 * v2 / (double)(n2 - 1));
	*p = student_p(difference / sqrt(v1 + v2), df);
	return student_t(df) * sqrt(v1 + v2);
}
