// Points of y^2 = x^3 + b over a field F. No formula here needs b, so G1 and G2 share them.
#pragma once

#include "word.h"

namespace headroom {

// Affine is a point; (0, 0) stands for infinity, as in gnark-crypto, whose memory it shares.
template <class F>
struct Affine {
  F x, y;

  HR_FN bool is_infinity() const { return x.is_zero() && y.is_zero(); }
};

// Jacobian is (x/z^2, y/z^3), infinity where z = 0. Its memory equals gnark-crypto's.
template <class F>
struct Jacobian {
  F x, y, z;
};

// Xyzz is (x/zz, y/zzz) with zz^3 = zzz^2, infinity where zz = 0: the coordinates in which adding an affine point costs
// least (Sutherland's; formulas dbl-2008-s-1, mdbl-2008-s-1, add-2008-s and madd-2008-s of the Explicit-Formulas
// Database).
template <class F>
struct Xyzz {
  F x, y, zz, zzz;

  static HR_FN Xyzz infinity() { return {F::zero(), F::zero(), F::zero(), F::zero()}; }
  HR_FN bool is_infinity() const { return zz.is_zero(); }

  static HR_FN Xyzz of(const Affine<F>& p) {
    if (p.is_infinity()) return infinity();
    return {p.x, p.y, F::one(), F::one()};
  }

  // twice and sum are functions of their own on the card too. Copied into every caller, they would fill the instruction
  // cache and the compiler's day; only what runs once for each entry is worth that.
  static HR_APART Xyzz twice(Xyzz p) { return p.doubled(); }
  static HR_APART Xyzz sum(Xyzz p, Xyzz q) {
    p.add(q);
    return p;
  }

  // doubled holds for every point: no point of odd order has y = 0.
  HR_FN Xyzz doubled() const {
    F u = y.doubled(), v = u.squared(), w = u * v, s = x * v, xx = x.squared(), m = xx.doubled() + xx;
    Xyzz r;
    r.x = m.squared() - s.doubled();
    r.y = F::sum_of_products(m, s - r.x, -w, y);
    r.zz = v * zz;
    r.zzz = w * zzz;
    return r;
  }

  // add adds an affine point: 8 products and 2 squares.
  HR_FN void add(const Affine<F>& q) {
    if (q.is_infinity()) return;
    if (is_infinity()) {
      *this = of(q);
      return;
    }
    F p = q.x * zz - x, r = q.y * zzz - y;
    if (p.is_zero()) {
      *this = r.is_zero() ? twice(of(q)) : infinity();
      return;
    }
    finish(p, r, x, y);
  }

  // add adds a point: 12 products and 2 squares.
  HR_FN void add(const Xyzz& q) {
    if (q.is_infinity()) return;
    if (is_infinity()) {
      *this = q;
      return;
    }
    F u = x * q.zz, s = y * q.zzz;
    F p = q.x * zz - u, r = q.y * zzz - s;
    if (p.is_zero()) {
      *this = r.is_zero() ? twice(q) : infinity();
      return;
    }
    finish(p, r, u, s);
    zz = zz * q.zz;
    zzz = zzz * q.zzz;
  }

  // jacobian needs no inversion: with z = zzz, x/zz is x zz^2 / z^2, because zz^3 = zzz^2.
  HR_FN Jacobian<F> jacobian() const { return {x * zz.squared(), y * zzz.squared(), zzz}; }

 private:
  // finish is what both additions share: p and r are the differences of the numerators over the common denominators,
  // u and s this point's numerators over them.
  HR_FN void finish(const F& p, const F& r, const F& u, const F& s) {
    F pp = p.squared(), ppp = p * pp, q = u * pp;
    zz = zz * pp;
    zzz = zzz * ppp;
    x = r.squared() - ppp - q.doubled();
    y = F::sum_of_products(r, q - x, -s, ppp);
  }
};

}  // namespace headroom
