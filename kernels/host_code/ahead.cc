#include "kernels/host_code/ahead.h"

#include <memory>

namespace kenaz::host_code {

using body::Thread;
using kir::Value;
using kir::Values;

std::optional<plan::Ahead> ahead_facts(const HostArrays& host, const ir::ESeg& e,
                                       const Neighbours& neighbours) {
  if (!host.target().reads_ahead || !neighbours.is_possible() || neighbours.loads().empty()) {
    return {};
  }
  if (e.body.results.size() > handed_by(e)) return {};  // what is stored besides
  plan::Ahead out;
  for (const ir::Stm& s : neighbours.loads()) {
    out.arrays.push_back(host.ir().type_of(s.pat[0]).prim);
  }
  const auto count = [&](const ir::Body& body) {
    const std::optional<int> statements = short_statements(body);
    if (statements) out.statements += *statements;
    return statements.has_value();
  };
  if (!count(neighbours.rest().body)) return {};
  for (const ir::SegMonoid& m : e.monoids) {
    if (!count(m.op.op.body)) return {};
  }
  return out;
}

plan::Elements::Ahead ahead_elements(Thread& t, const Neighbours& neighbours) {
  plan::Elements::Ahead out;
  out.bases = [&] {
    Values bases;
    for (const ir::Stm& s : neighbours.loads()) {
      bases.push_back(t.env.array(std::get<ir::EIndex>(s.exp).array).base);
    }
    return bases;
  };
  const auto point = std::make_shared<std::optional<kir::FunctionId>>();
  out.element = [&, point](kir::Builder& k, const Value& position, const Values& read) {
    if (!*point) *point = neighbours.point(t);
    Values args = {position};
    args.insert(args.end(), read.begin(), read.end());
    return k.call(**point, std::move(args));
  };
  return out;
}

}  // namespace kenaz::host_code
