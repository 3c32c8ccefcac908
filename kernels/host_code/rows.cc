#include "kernels/host_code/rows.h"

#include "kernels/host_code/launch.h"

namespace kenaz::host_code {

using body::Thread;
using kir::Value;
using kir::Values;

struct Rows::Code {
  Thread& t;
  const SegParts& parts;
  kir::FunctionId point;
  Value group, width;  // i64

  kir::Builder& k() { return t.k; }
};

Rows::Rows(HostArrays& host, const ir::ESeg& e, const Neighbours& neighbours)
    : host_(host), e_(e), neighbours_(neighbours) {
  if (!host.target().reads_ahead || !neighbours.is_possible()) return;
  const std::optional<int> statements = short_statements(neighbours.rest().body);
  if (!statements) return;
  std::vector<PrimType> types;
  for (const ir::Stm& s : neighbours.loads()) types.push_back(type_of(s));
  for (const ir::Atom& r : e.body.results) types.push_back(host.ir().type_of(r).prim);
  tile_.lanes = host.target().subgroup_size;
  tile_.fit(types, *statements + 1);
}

PrimType Rows::type_of(const ir::Stm& load) const { return host_.ir().type_of(load.pat[0]).prim; }

/// The threads' elements of each array that is read side by side.
std::vector<Values> Rows::load_all(Code& code, const Value& tile) const {
  std::vector<Values> out;
  for (const ir::Stm& s : neighbours_.loads()) {
    const Value base = code.t.env.array(std::get<ir::EIndex>(s.exp).array).base;
    out.push_back(tile_.load(code.k(), type_of(s), base, tile));
  }
  return out;
}

void Rows::store_all(Code& code, const std::vector<Values>& loaded) const {
  kir::Builder& k = code.k();
  for (int first = 0; first < tile_.per_thread(); first += tile_.each) {
    std::vector<Values> results(e_.body.results.size());
    for (int n = first; n < first + tile_.each; n++) {
      Values args = {tile_.place(k, code.group, n)};
      for (const Values& array : loaded) args.push_back(array[static_cast<size_t>(n)]);
      const Values made = k.call(code.point, std::move(args));
      for (size_t r = 0; r < results.size(); r++) results[r].push_back(made[r]);
    }
    for (size_t r = 0; r < results.size(); r++) {
      tile_.store(k, code.t.args.block(code.parts.stored[r].block), code.group, first, results[r]);
    }
  }
}

void Rows::launch(ir::ProvId prov, const SegParts& parts, const Operand& width) const {
  Thread t(host_, host_.kernel_name("map"), prov);
  kir::Builder& k = t.k;
  const auto elem = point_function(host_, t, e_, {1}, parts);
  Code code{t, parts, neighbours_.point(t), k.group(), t.args.operand(width)};
  if (host_.failed()) return;
  t.kernel.reads_ahead = true;
  const Value from = k.mul(code.group, tile()), to = k.add(from, tile());
  const Value whole = k.le(to, code.width);
  // The last workgroup, which has less than a tile, and those behind it load the first tile.
  const auto loaded = load_all(code, k.select(whole, code.group, kir::i64(0)));
  k.if_(
      whole, [&] { store_all(code, loaded); },
      [&] {
        k.for_(k.add(from, k.to_i64(k.lane())), code.width, kir::i64(tile_.lanes),
               [&](const Value& i) { k.call(elem, {i}); });
      });
  t.kernel.group_size = {tile_.lanes};
  const Operand reach = host_.add(width, PrimValue::i64(tile() - 1));
  launch_kernel(host_, t, t.kernel, tile_.lanes,
                host_.emit_op(ScalarOp::kQuot, PrimType::kI64, PrimType::kI64,
                              {reach, PrimValue::i64(tile())}));
}

}  // namespace kenaz::host_code
