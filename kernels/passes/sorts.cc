// Sorts where no kernel sorts: in lambdas they are packings, one for each bit of the keys, from the
// lowest on. Elsewhere only small scalars are sorted: of other elements their numbers are, and then
// the elements are gathered.
#include <algorithm>

#include "kernels/ir/builder.h"
#include "kernels/ir/visit.h"
#include "kernels/passes/passes.h"

namespace kenaz::passes {
namespace {

using namespace ir;

class Sorts {
 public:
  /// `in_maps`: those in lambdas are sorts, too.
  Sorts(Program& p, bool in_maps) : p_(p), in_maps_(in_maps) {}

  void program() {
    visit_bodies(p_, [&](Body& b) { body(b, false); });
  }

 private:
  /// More than these of an element are not carried along.
  static constexpr int kMostBytes = 16;

  void body(Body& b, bool in_lambda) {
    Body out;
    for (Stm& s : b.stms) {
      bool lambdas = in_lambda || std::holds_alternative<ESeg>(s.exp);
      visit_lambdas(s.exp, [&](const Lambda&) { lambdas = true; });
      visit_bodies(s.exp, [&](Body& inner) { body(inner, lambdas); });
      auto* e = std::get_if<ESort>(&s.exp);
      if (e == nullptr) {
        out.stms.push_back(std::move(s));
      } else if ((in_lambda && !in_maps_) || is_few(e->width)) {
        by_bits(s, std::move(*e), out);
      } else if (!is_small(*e)) {
        by_number(s, std::move(*e), out);
      } else {
        out.stms.push_back(std::move(s));
      }
    }
    b.stms = std::move(out.stms);
  }

  static bool is_few(const Atom& n) { return n.is_const() && n.constant().as_i64() <= kFewToMove; }
  static bool is_small(const ESort& e) {
    int bytes = 0;
    for (size_t k = 1; k < e.map.ret.size(); k++) {
      if (!e.map.ret[k].is_scalar()) return false;
      bytes += prim_size(e.map.ret[k].prim);
    }
    return bytes <= kMostBytes;
  }

  Builder builder(const Stm& s, Body& out) {
    Builder b(p_, out, s.prov);
    b.certs() = s.certs;
    return b;
  }

  void by_bits(const Stm& s, ESort e, Body& out) {
    Builder b = builder(s, out);
    const PrimType key = e.map.ret[0].prim;
    const std::vector<Type> types = e.map.ret;
    const std::vector<VarId> made = b.map(e.width, e.inputs, std::move(e.map), "unsorted");
    b.last().attrs = s.attrs;
    ELoop loop;
    const VarId bit = p_.new_var(number_, "bit");
    loop.form = LoopFor{bit, i64(8 * int64_t{prim_size(key)})};
    EPack pack{e.width, {}, {}, 1, true};
    std::vector<VarId> pat = {p_.new_var({PrimType::kI64, {i64(1)}}, "counts")};
    for (const VarId v : made) {
      pack.inputs.push_back(p_.new_var(p_.type_of(v), "partly"));
      loop.params.push_back({pack.inputs.back(), v});
      pat.push_back(p_.new_var(p_.type_of(v), "partly"));
      loop.body.results.emplace_back(pat.back());
    }
    Builder in(p_, loop.body, s.prov);
    in.certs() = s.certs;
    const Atom at = in.convert(bit, key);
    std::vector<Type> ret = types;
    ret.insert(ret.begin(), class_);
    pack.map = in.lambda(
        types,
        [&](Builder& elem, const std::vector<VarId>& x) {
          const Atom low = elem.prim(
              ScalarOp::kAnd, {elem.prim(ScalarOp::kLShr, {x[0], at}), PrimValue::of_int(key, 1)});
          std::vector<Atom> results(x.begin(), x.end());
          results.insert(results.begin(), elem.convert(low, PrimType::kI32));
          return results;
        },
        ret);
    in.emit_to(pat, std::move(pack));
    in.last().attrs = s.attrs;
    b.emit_to(s.pat, std::move(loop));
  }

  void by_number(const Stm& s, ESort e, Body& out) {
    Builder b = builder(s, out);
    const std::vector<VarId> made = b.map(e.width, e.inputs, std::move(e.map), "unsorted");
    b.last().attrs = s.attrs;
    const VarId number = p_.new_var({PrimType::kI64, {e.width}}, "number");
    ESort numbers{e.width, {made[0], b.iota(e.width)}, {}};
    const std::vector<Type> types = {row_type(p_.type_of(made[0])), number_};
    numbers.map = b.lambda(
        types,
        [](Builder&, const std::vector<VarId>& x) { return std::vector<Atom>(x.begin(), x.end()); },
        types);
    b.emit_to({s.pat[0], number}, std::move(numbers));
    b.last().attrs = s.attrs;
    ESoac gather{e.width, {number}, {}, {}, {}};
    std::vector<Type> rows;
    for (size_t k = 1; k < made.size(); k++) rows.push_back(row_type(p_.type_of(made[k])));
    gather.map = b.lambda(
        {number_},
        [&](Builder& in, const std::vector<VarId>& x) {
          std::vector<Atom> row;
          for (size_t k = 1; k < made.size(); k++) {
            row.push_back(in.index(made[k], std::vector<Atom>{x[0]}, "row"));
          }
          return row;
        },
        rows);
    b.emit_to({s.pat.begin() + 1, s.pat.end()}, std::move(gather));
    b.last().attrs = s.attrs;
  }

  const Type number_{PrimType::kI64, {}}, class_{PrimType::kI32, {}};
  Program& p_;
  const bool in_maps_;
};

}  // namespace

void sorts(Program& p) { Sorts(p, false).program(); }
void sorts_in_maps(Program& p) { Sorts(p, true).program(); }

}  // namespace kenaz::passes
