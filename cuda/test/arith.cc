// Runs the arithmetic headers on the host, for a test that knows the right answers. Requests come on standard input:
// a line with an operation and a count, then that many times the raw operands. The results go to standard output, raw.
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "../arith/curve.h"
#include "../arith/fp2.h"
#include "../arith/fr.h"

namespace {

using namespace headroom;

// Op maps raw operands to a raw result.
struct Op {
  size_t in, out;
  std::function<void(const char*, char*)> run;
};

// take reads the k-th operand.
template <class T>
T take(const char* in, int k) {
  T value;
  std::memcpy(&value, in + k * sizeof(T), sizeof(T));
  return value;
}

template <class In, class Out>
Op unary(std::function<Out(const In&)> f) {
  return {sizeof(In), sizeof(Out), [f](const char* in, char* out) {
            Out r = f(take<In>(in, 0));
            std::memcpy(out, &r, sizeof r);
          }};
}

template <class In, class Out>
Op binary(std::function<Out(const In&, const In&)> f) {
  return {2 * sizeof(In), sizeof(Out), [f](const char* in, char* out) {
            Out r = f(take<In>(in, 0), take<In>(in, 1));
            std::memcpy(out, &r, sizeof r);
          }};
}

template <class F>
void add_ring(std::map<std::string, Op>& ops, const std::string& name) {
  ops[name + ".add"] = binary<F, F>([](const F& a, const F& b) { return a + b; });
  ops[name + ".sub"] = binary<F, F>([](const F& a, const F& b) { return a - b; });
  ops[name + ".mul"] = binary<F, F>([](const F& a, const F& b) { return a * b; });
  ops[name + ".neg"] = unary<F, F>([](const F& a) { return -a; });
  ops[name + ".double"] = unary<F, F>([](const F& a) { return a.doubled(); });
  ops[name + ".square"] = unary<F, F>([](const F& a) { return a.squared(); });
  ops[name + ".inverse"] = unary<F, F>([](const F& a) { return a.inverse(); });
}

template <class F>
void add_prime_field(std::map<std::string, Op>& ops, const std::string& name) {
  add_ring<F>(ops, name);
  ops[name + ".plain"] = unary<F, F>([](const F& a) { return a.plain(); });
  ops[name + ".montgomery"] = unary<F, F>([](const F& a) { return a.montgomery(); });
}

template <class F>
void add_group(std::map<std::string, Op>& ops, const std::string& name) {
  using A = Affine<F>;
  using J = Jacobian<F>;
  // One affine operand and one with a denominator: 2a + b.
  ops[name + ".mixed"] = binary<A, J>([](const A& a, const A& b) {
    auto sum = Xyzz<F>::of(a).doubled();
    sum.add(b);
    return sum.jacobian();
  });
  // Both operands with denominators: 2a + 2b.
  ops[name + ".full"] = binary<A, J>([](const A& a, const A& b) {
    auto sum = Xyzz<F>::of(a).doubled();
    sum.add(Xyzz<F>::of(b).doubled());
    return sum.jacobian();
  });
  // Both operands affine: a + b.
  ops[name + ".affine"] = binary<A, J>([](const A& a, const A& b) {
    auto sum = Xyzz<F>::of(a);
    sum.add(b);
    return sum.jacobian();
  });
}

std::map<std::string, Op> operations() {
  std::map<std::string, Op> ops;
  add_prime_field<Fr>(ops, "fr");
  add_prime_field<Fp>(ops, "fp");
  add_ring<Fp2>(ops, "fp2");
  add_group<Fp>(ops, "g1");
  add_group<Fp2>(ops, "g2");
  ops["fp.products"] = binary<Fp2, Fp>([](const Fp2& x, const Fp2& y) {
    return Fp::sum_of_products(x.a, y.a, x.b, y.b);
  });
  ops["fr.root"] = unary<uint32_t, Fr>([](const uint32_t& log) { return fr_root(static_cast<int>(log)); });
  return ops;
}

}  // namespace

int main() {
  const auto ops = operations();
  char name[32];
  unsigned long count;
  while (std::scanf("%31s %lu", name, &count) == 2 && std::getchar() == '\n') {
    auto op = ops.find(name);
    if (op == ops.end()) {
      std::fprintf(stderr, "arith: no operation %s\n", name);
      return 1;
    }
    std::vector<char> in(op->second.in), out(op->second.out);
    for (unsigned long i = 0; i < count; i++) {
      if (std::fread(in.data(), in.size(), 1, stdin) != 1) {
        std::fprintf(stderr, "arith: %s: operand %lu of %lu is missing\n", name, i, count);
        return 1;
      }
      op->second.run(in.data(), out.data());
      std::fwrite(out.data(), out.size(), 1, stdout);
    }
  }
  return 0;
}
