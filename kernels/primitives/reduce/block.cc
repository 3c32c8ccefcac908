#include "kernels/primitives/reduce/fold.h"
#include "kernels/primitives/reduce/plan_functions.h"

namespace kenaz::primitives::reduce::block {

namespace {

// So many rows, or columns, of a thread: of a product of matrices it then loads 8 numbers for 16
// products. Values that elements read alike are loaded once because the passes behind see that they
// are the same.
constexpr int kSide = 4;
constexpr int kAcross = 32;  // neighbouring threads in a row, so that they read whole lines

// The thread's rows and columns: from a first one on, in steps as wide as there are threads.
std::vector<Value> places(Team& t, const Value& first, const HostExpr& step, int count) {
  std::vector<Value> all;
  for (int n = 0; n < count; n++) {
    all.push_back(t.k.add(first, t.k.mul(t.host(step), static_cast<int64_t>(n))));
  }
  return all;
}

// Beyond the end the last one is taken once more: that needs no condition around its loads.
std::vector<Value> inside(Team& t, const std::vector<Value>& all, const HostExpr& count) {
  std::vector<Value> clamped;
  const Value last = t.k.sub(t.host(count), 1);
  for (const Value& v : all) clamped.push_back(t.k.min(v, last));
  return clamped;
}

}  // namespace

bool applies(const Facts& f, const Target&) {
  return (f.grid.rows_share || f.grid.columns_share) && !f.slow;
}

HostExpr when(const Facts& f, const Target& target) {
  const HostExpr fits = and_(le(8, f.length), le(f.length, plan::turn_budget(target)));
  return and_(le(target.threads, f.segments), fits);
}

plan::Work make(const Facts& f, const Target& target, const plan::Bind& bind) {
  plan::Maker m(f, target, bind, 128);
  m.asks(plan::Asks::kByGrid);
  const int down = f.grid.rows_share ? kSide : 1, along = f.grid.columns_share ? kSide : 1;
  const HostExpr rows = f.grid.rows, columns = f.grid.columns;
  // In threads.
  const HostExpr height = max(div_up(rows, down), 1), width = max(div_up(columns, along), 1);
  const HostExpr matrices = HostExpr::op(ScalarOp::kQuot, {f.segments, max(rows * columns, 1)});
  const HostExpr across = min(width, min(m.group_size(), kAcross));
  const HostExpr strip = HostExpr::op(ScalarOp::kQuot, {m.group_size(), across});
  const HostExpr lines = matrices * height, strips = div_up(width, across);
  m.step("_block", div_up(lines, strip) * strips, [&](Team& t) {
    Builder& k = t.k;
    const Value group_line = k.quot(k.group(), t.host(strips)), local = k.to_i64(k.local());
    const Value group_strip = k.sub(k.group(), k.mul(group_line, t.host(strips)));
    const Value local_line = k.quot(local, t.host(across));
    const Value line = k.add(k.mul(group_line, t.host(strip)), local_line);
    const Value column =
        k.add(k.mul(group_strip, t.host(across)), k.sub(local, k.mul(local_line, t.host(across))));
    const Value live = k.and_(k.lt(local_line, t.host(strip)),
                              k.and_(k.lt(line, t.host(lines)), k.lt(column, t.host(width))));
    k.if_(live, [&] {
      const Value matrix = k.quot(line, t.host(height));
      const Value row = k.sub(line, k.mul(matrix, t.host(height)));
      const auto all_rows = places(t, row, height, down);
      const auto all_columns = places(t, column, width, along);
      const auto at_rows = inside(t, all_rows, rows), at_columns = inside(t, all_columns, columns);
      std::vector<kir::Vars> accs;
      for (int n = 0; n < down * along; n++) accs.push_back(k.declare(t.problem.op.neutral));
      const auto for_all = [&](const auto& body) {
        for (size_t r = 0; r < all_rows.size(); r++) {
          for (size_t c = 0; c < all_columns.size(); c++)
            body(r, c, accs[r * at_columns.size() + c]);
        }
      };
      k.for_(kir::i64(0), t.host(f.length), kir::i64(1), [&](const Value& position) {
        for_all([&](size_t r, size_t c, const kir::Vars& acc) {
          const Values x = t.problem.elements.at(k, {matrix, position, at_rows[r], at_columns[c]});
          k.assign(acc, t.problem.op.combine(k, k.read(acc), x));
        });
      });
      const Value n_rows = t.host(rows), n_columns = t.host(columns);
      for_all([&](size_t r, size_t c, const kir::Vars& acc) {
        const Value exists = k.and_(k.lt(all_rows[r], n_rows), k.lt(all_columns[c], n_columns));
        k.if_(exists, [&] {
          const Value line_of = k.add(k.mul(matrix, n_rows), all_rows[r]);
          const Value segment = k.add(k.mul(line_of, n_columns), all_columns[c]);
          t.problem.sink.put(k, {segment, kir::i64(0)}, k.read(acc));
        });
      });
    });
  });
  return m.take();
}

}  // namespace kenaz::primitives::reduce::block
