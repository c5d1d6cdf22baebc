"""The functions of ``own_branches`` in C by hand, each with its adjoint by hand: what taped code is held against.

``run`` takes the parameters, the data as flat arrays, and where to write the gradient; it gives the value.
"""

from __future__ import annotations

__all__ = ["CALLS", "COALESCENT", "INVENTORY", "RESERVING", "TRANSPORT"]

#: All calls of a turn, so that none of Python's time counts.
CALLS = r"""
void calls(int n, const double **p, const double **data, const int **ints, double **g, double *values) {
    for (int i = 0; i < n; i++) values[i] = run(p[i], data[i], ints[i], g[i]);
}
"""

#: A tape of segments: crossed, collided, scattered.
TRANSPORT = r"""
#include <math.h>
#define P 60
#define N 60
#define L 4
static const double EDGES[L+1] = {0.0, 0.5, 1.2, 1.8, 3.0};
/* 0 crossed, 1 collided, 2 and 3: weight times albedo, twice that */
typedef struct { int kind, k; double d, w, mu; } seg;
__attribute__((noinline)) double run(const double *p, const double *data, const int *ints, double *g) {
    static _Thread_local seg tape[P * N * 4];
    int first[P + 1], fate[P], n = 0;
    double s[L], al[L], dose[L], tally[4] = {0, 0, 0, 0}, fw = data[0];
    const double *target = data + 1;
    for (int i = 0; i < L; i++) { s[i] = exp(p[i]); al[i] = 1 / (1 + exp(-p[L+i])); dose[i] = 0; }
    for (int q = 0; q < P; q++) {
        const double *u = data + 1 + L + q * N;
        int at = 0, k = 0, f = 3;
        double x = 0, w = 1, mu = u[at++];
        if (mu < 0.1) mu = 0.1;
        first[q] = n;
        while (N - at > 8) {
            double tau = -log(1 - u[at++]);
            for (;;) {
                double edge = mu > 0 ? EDGES[k+1] : EDGES[k], d = (edge - x) / mu;
                seg *t = &tape[n++];
                t->k = k; t->w = w; t->mu = mu;
                if (tau > s[k] * d) {
                    t->kind = 0; t->d = d;
                    dose[k] += w * d; tau -= s[k] * d; x = edge;
                    k += mu > 0 ? 1 : -1;
                    if (k < 0) { f = 0; goto end; }
                    if (k >= L) { f = 1; goto end; }
                } else {
                    d = tau / s[k];
                    t->kind = 1; t->d = d;
                    dose[k] += w * d; x += mu * d;
                    break;
                }
            }
            seg *t = &tape[n++];
            t->kind = 2; t->k = k; t->w = w;
            w *= al[k];
            if (w < 0.3) {
                if (u[at++] < 0.5) { f = 2; goto end; }
                w *= 2; t->kind = 3;
            }
            mu = 1;
            while (N - at > 8) {
                double c = 2 * u[at++] - 1;
                if (fabs(c) < 0.05) continue;
                if (u[at++] * (1 + fw) < 1 + fw * c) { mu = c; break; }
            }
        }
    end:
        fate[q] = f;
        if (f != 2) tally[f] += w;
    }
    first[P] = n;
    double e1 = tally[1] / P - 0.2, e0 = tally[0] / P - 0.3, loss = e1*e1 + e0*e0;
    double tb[4] = {2*e0/P, 2*e1/P, 0, 0}, db_[L], sb[L], ab[L];
    for (int i = 0; i < L; i++) { double e = dose[i] / P - target[i]; loss += e*e; db_[i] = 2*e/P; sb[i] = ab[i] = 0; }
    for (int q = 0; q < P; q++) {
        double wb = tb[fate[q]], xb = 0, taub = 0;
        for (int i = first[q+1] - 1; i >= first[q]; i--) {
            const seg *t = &tape[i];
            int k = t->k;
            if (t->kind == 0) {
                double db = db_[k] * t->w - taub * s[k];
                wb += db_[k] * t->d; sb[k] -= taub * t->d;
                xb = -db / t->mu;
            } else if (t->kind == 1) {
                double db = db_[k] * t->w + xb * t->mu;
                wb += db_[k] * t->d;
                taub = db / s[k]; sb[k] -= db * t->d / s[k];
            } else {
                double x = t->kind == 3 ? 2 * wb : wb;
                ab[k] += x * t->w; wb = x * al[k];
                taub = 0;
            }
        }
    }
    for (int i = 0; i < L; i++) { g[i] = sb[i] * s[i]; g[L+i] = ab[i] * al[i] * (1 - al[i]); }
    return loss;
}
"""

#: Lots and orders in one array, through which three indices go.
INVENTORY = r"""
#include <math.h>
#define A 4
#define T 90
#define SHELF 6
#define NL 12
__attribute__((noinline)) double run(const double *p, const double *data, const int *ints, double *g) {
    double total = 0;
    static _Thread_local double qty[T + 2], qb[T + 2], stock_[T], left_[T], quant[T], disc[T];
    static _Thread_local int age[T + 2], born[T + 2], due[T + 2], ordered[T];
    static _Thread_local int lo1[T], hi1[T], lo2[T], lo3[T], c1[T], part[T];
    double dd = 1;
    for (int t = 0; t < T; t++) { disc[t] = dd; dd *= 0.999; }
    for (int a = 0; a < A; a++) {
        const double *r = data + a * (5 + T), *demand = r + 5;
        const int *leads = ints + a * NL;
        double price = r[0], fixed = r[1], hold = r[2], lost = r[3], waste = r[4];
        double low = p[2*a], high = low + p[2*a+1];
        /* lots and orders are the same array: order j becomes lot j+1; lots are [first, last), orders [last, placed] */
        int first = 0, last = 1, placed = 0, nl = 0;
        qty[0] = high; born[0] = 0; qb[0] = 0;
        double cost_sum = 0;
        for (int t = 0; t < T; t++) {
            double cost = 0;
            while (last <= placed && due[last] <= t) { born[last] = t; last++; }
            lo1[t] = first;
            while (first < last && t - born[first] >= SHELF) { cost += waste * qty[first]; first++; }
            lo2[t] = first;
            double left = demand[t];
            part[t] = 0;
            while (first < last && left > 0) {
                if (qty[first] > left) { qty[first] -= left; left = 0; part[t] = 1; }
                else { left -= qty[first]; first++; }
            }
            lo3[t] = first; left_[t] = left;
            cost += lost * left;
            double stock = 0, on = 0;
            for (int i = first; i < last; i++) stock += qty[i];
            for (int i = last; i <= placed; i++) on += qty[i];
            stock_[t] = stock; hi1[t] = last; c1[t] = placed;
            double z = (low - stock) / 4;
            cost += hold * stock + 0.2 * (z < 30 ? log(1 + exp(z)) : z);
            double pos = stock + on;
            ordered[t] = 0;
            if (pos < low) {
                double q = high - pos;
                cost += fixed * (1 - exp(-q / 10)) + price * q;
                ordered[t] = 1; quant[t] = q;
                due[placed + 1] = t + leads[nl % NL]; nl++;
                placed++; qty[placed] = q; qb[placed] = 0;
            }
            cost_sum += disc[t] * cost;
        }
        total += cost_sum;
        double lowb = 0, highb = 0;
        for (int t = T - 1; t >= 0; t--) {
            double w = disc[t], sb = 0, ob = 0;
            int l = hi1[t], pl = c1[t];
            if (ordered[t]) {
                double q = quant[t];
                double b = qb[pl + 1] + w * (fixed * exp(-q / 10) / 10 + price);
                highb += b; sb -= b; ob -= b;
            }
            double z = (low - stock_[t]) / 4;
            double s = z < 30 ? 1 / (1 + exp(-z)) : 1;
            lowb += w * 0.05 * s; sb += w * (hold - 0.05 * s);
            for (int i = lo3[t]; i < l; i++) qb[i] += sb;
            for (int i = l; i <= pl; i++) qb[i] += ob;
            /* the demand walked lots lo2..lo3 */
            double lb = w * lost;
            if (part[t]) lb = -qb[lo3[t]];
            for (int i = lo3[t] - 1; i >= lo2[t]; i--) qb[i] = -lb;
            for (int i = lo1[t]; i < lo2[t]; i++) qb[i] = w * waste;
        }
        highb += qb[0];
        g[2*a] = lowb + highb; g[2*a+1] = highb;
    }
    return total;
}
"""

#: Forward and backward at once, since the weight of each term is known beforehand; sorted by insertion.
COALESCENT = r"""
#include <math.h>
#define L 5
#define E 61
typedef struct { double N, gr, ch, anc, Nb, gb, chb, ancb; } deme;
/* value and adjoint of growing at once, the weight is known beforehand */
static double growing_adj(deme *d, double a, double b, double w, int end_is_change) {
    if (fabs(d->gr) < 1e-6) {
        double x = (b - a) / d->N;
        d->Nb -= w * x / d->N;
        if (end_is_change) d->chb += w / d->N;
        return x;
    }
    double eb = exp(d->gr * b), ea = exp(d->gr * a), s = 1 / (d->gr * d->N), x = (eb - ea) * s;
    d->Nb -= w * x / d->N;
    d->gb += w * ((b * eb - a * ea) * s - x / d->gr);
    if (end_is_change) d->chb += w * eb / d->N;
    return x;
}
static double exposure(deme *d, double a, double b, double w) {
    if (b <= d->ch) return growing_adj(d, a, b, w, 0);
    if (a >= d->ch) { double x = (b - a) / d->anc; d->ancb -= w * x / d->anc; return x; }
    double y = (b - d->ch) / d->anc;
    d->ancb -= w * y / d->anc;
    d->chb -= w / d->anc;
    return growing_adj(d, a, d->ch, w, 1) + y;
}
__attribute__((noinline)) double run(const double *p, const double *data, const int *ints, double *g) {
    double ch = exp(p[6]), r[2] = {exp(p[4]), exp(p[5])}, rb[2] = {0, 0}, sum = 0;
    deme de[2];
    for (int i = 0; i < 2; i++) {
        de[i].N = exp(p[2*i]); de[i].gr = p[2*i+1]; de[i].ch = ch;
        de[i].anc = de[i].N * exp(-de[i].gr * ch);
        de[i].Nb = de[i].gb = de[i].chb = de[i].ancb = 0;
    }
    const double sc = -1.0 / L;
    for (int l = 0; l < L; l++) {
        const double *t = data + l * E;
        const int *ev = ints + 2 * l * E;
        int ord[E];
        for (int i = 0; i < E; i++) {
            int j = i;
            while (j > 0 && t[ord[j-1]] > t[i]) { ord[j] = ord[j-1]; j--; }
            ord[j] = i;
        }
        int k[2] = {0, 0};
        double now = 0, total = 0;
        for (int i = 0; i < E; i++) {
            double at = t[ord[i]];
            int kind = ev[2*ord[i]], d = ev[2*ord[i]+1];
            if (at > now) {
                for (int q = 0; q < 2; q++) {
                    if (k[q] >= 2) {
                        double c = -0.5 * k[q] * (k[q] - 1);
                        total += c * exposure(&de[q], now, at, sc * c);
                    }
                    if (k[q] > 0) { total -= k[q] * r[q] * (at - now); rb[q] -= sc * k[q] * (at - now); }
                }
                now = at;
            }
            if (kind == 0) k[d]++;
            else if (kind == 1) {
                if (k[d] < 2) { total = -1e6; break; }
                if (at >= ch) { total -= log(de[d].anc); de[d].ancb -= sc / de[d].anc; }
                else { total -= log(de[d].N * exp(-de[d].gr * at)); de[d].Nb -= sc / de[d].N; de[d].gb += sc * at; }
                k[d]--;
            } else { total += log(r[d]); rb[d] += sc / r[d]; k[d]--; k[1-d]++; }
        }
        sum += total;
    }
    double chb = 0;
    for (int i = 0; i < 2; i++) {
        deme *d = &de[i];
        chb += d->chb - d->ancb * d->gr * d->anc;
        d->gb -= d->ancb * ch * d->anc;
        d->Nb += d->ancb * d->anc / d->N;
        g[2*i] = d->Nb * d->N; g[2*i+1] = d->gb;
        g[4+i] = rb[i] * r[i];
    }
    g[6] = chb * ch;
    return sum * sc;
}
"""

#: Forward and backward for one policy after the other.
RESERVING = r"""
#include <math.h>
#define N 30
#define M 8
#define D 10
static double zero_rate(const double *c, double t) {
    if (t <= c[0]) return c[1];
    if (t >= c[2*(M-1)]) return c[2*(M-1)+1];
    int lo = 0, hi = M;
    while (lo < hi) { int mid = (lo + hi) / 2; if (t < c[2*mid]) hi = mid; else lo = mid + 1; }
    int k = lo - 1;
    double w = (t - c[2*k]) / (c[2*k+2] - c[2*k]);
    return c[2*k+1] + w * (c[2*k+3] - c[2*k+1]);
}
__attribute__((noinline)) double run(const double *p, const double *data, const int *ints, double *g) {
    const double g0 = p[0], g1 = p[1], sm = p[2], *lap = p + 3, maint = p[13], shift = p[14];
    const double *curve = data, *pol = data + 2*M;
    for (int i = 0; i < 15; i++) g[i] = 0;
    double loss = 0, q[32], w[32], v[33], al[33], F[32];
    for (int i = 0; i < N; i++) {
        int age = ints[4*i], term = ints[4*i+1], kind = ints[4*i+2], smoker = ints[4*i+3];
        double S = pol[3*i], P = pol[3*i+1], B = pol[3*i+2], total = 0, alive = 1;
        double es = smoker ? exp(sm) : 0;
        int n = 0;
        v[0] = 1;
        for (int y = 0; y < term; y++) {
            double f = exp(g0 + g1 * (age + y - 40));
            if (smoker) f *= 1 + es;
            F[y] = f;
            q[y] = 1 - exp(-f);
            int k = y < D - 1 ? y : D - 1;
            w[y] = 1 / (1 + exp(-lap[k]));
            v[y+1] = exp(-(zero_rate(curve, y + 1) + shift) * (y + 1));
            al[y] = alive;
            total += maint * alive * v[y];
            if (kind == 2) total += 0.05 * S * alive * (1 - q[y]) * v[y+1];
            else {
                total += -P * alive * v[y] + S * q[y] * alive * v[y+1];
                if (kind == 1 && y >= 2) total += 0.8 * P * (y + 1) * w[y] * (1 - q[y]) * alive * v[y+1];
            }
            alive *= (1 - q[y]) * (1 - w[y]);
            n = y + 1;
            if (alive < 0.1) break;
        }
        if (kind == 1) total += S * alive * v[n];
        double sc = 1 + fabs(B), miss = (total - B) / sc;
        loss += miss * miss;
        double tb = 2 * miss / sc / N, ab = 0, vb = 0, mb = 0, shb = 0;
        if (kind == 1) { ab = tb * S * v[n]; vb = tb * S * alive; }
        double g0b = 0, g1b = 0, fsb = 0;
        for (int y = n - 1; y >= 0; y--) {
            double qb = -ab * al[y] * (1 - w[y]), wb = -ab * al[y] * (1 - q[y]), vsb = 0;
            ab = ab * (1 - q[y]) * (1 - w[y]);
            double a = al[y], ve = v[y+1];
            if (kind == 2) {
                double t = 0.05 * S * tb;
                ab += t * (1 - q[y]) * ve; qb -= t * a * ve; vb += t * a * (1 - q[y]);
            } else {
                ab += tb * (S * q[y] * ve - P * v[y]);
                vsb -= tb * P * a;
                qb += tb * S * a * ve; vb += tb * S * q[y] * a;
                if (kind == 1 && y >= 2) {
                    double t = 0.8 * P * (y + 1) * tb;
                    wb += t * (1 - q[y]) * a * ve; qb -= t * w[y] * a * ve;
                    ab += t * w[y] * (1 - q[y]) * ve; vb += t * w[y] * (1 - q[y]) * a;
                }
            }
            mb += tb * a * v[y]; ab += tb * maint * v[y]; vsb += tb * maint * a;
            shb -= vb * ve * (y + 1);
            int k = y < D - 1 ? y : D - 1;
            g[3+k] += wb * w[y] * (1 - w[y]);
            double fb = qb * (1 - q[y]) * F[y];
            g0b += fb; g1b += fb * (age + y - 40); fsb += fb;
            vb = vsb;
        }
        g[0] += g0b; g[1] += g1b;
        if (smoker) g[2] += fsb * es / (1 + es);
        g[13] += mb; g[14] += shb;
    }
    return loss / N;
}
"""
