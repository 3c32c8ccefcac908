// Host code that works on array elements would read each of them from the device. One thread of the
// device does such work faster, as long as nothing in it is worth more threads.
#include <algorithm>
#include <functional>

#include "kernels/flatten/device_scalars.h"
#include "kernels/ir/analysis/rename.h"
#include "kernels/ir/analysis/uses.h"
#include "kernels/ir/builder.h"
#include "kernels/ir/visit.h"

namespace kenaz::flatten {
namespace {

using namespace ir;

/// Parallel work of at most this many elements is not worth a launch.
constexpr int64_t kTinyWidth = 32;

bool is_tiny(const Atom& n) { return n.is_const() && n.constant().as_i64() <= kTinyWidth; }
bool is_tiny(const std::vector<Atom>& dims) {
  int64_t total = 1;
  for (const Atom& d : dims) {
    if (!is_tiny(d)) return false;
    total *= std::max<int64_t>(1, d.constant().as_i64());
  }
  return total <= kTinyWidth;
}

/// An array that is replaced in each iteration would be copied by one thread.
bool copies_arrays(const Program& p, const ELoop& e) {
  const VarSet consumed = consumed_params(p, e);
  return std::any_of(e.params.begin(), e.params.end(), [&](const ELoop::Param& param) {
    const Type& t = p.type_of(param.var);
    return !t.is_scalar() && !is_tiny(t.dims) && !consumed.contains(param.var);
  });
}

/// Whether the expression does work that should be spread over threads, or makes arrays whose size
/// only the host can provide for.
bool wants_host(const Program& p, const Exp& exp) {
  if (const auto* e = std::get_if<ESoac>(&exp)) return !is_tiny(e->width);
  if (const auto* e = std::get_if<EScatter>(&exp)) return !is_tiny(e->width);
  if (const auto* e = std::get_if<EHist>(&exp)) return !is_tiny(e->width);
  if (const auto* e = std::get_if<EIota>(&exp)) return !is_tiny(e->n);
  if (const auto* e = std::get_if<EReplicate>(&exp)) return !is_tiny(e->dims);
  if (const auto* e = std::get_if<EScratch>(&exp)) return !is_tiny(e->dims);
  if (const auto* e = std::get_if<EConcat>(&exp)) return !is_tiny(e->total);
  if (const auto* e = std::get_if<ECopy>(&exp)) return !is_tiny(p.type_of(e->array).dims);
  if (const auto* e = std::get_if<EArrayLit>(&exp)) return !is_tiny(e->elem_type.dims);
  if (const auto* e = std::get_if<ELoop>(&exp)) return copies_arrays(p, *e);
  if (const auto* e = std::get_if<EUpdate>(&exp)) {
    const auto sizes = slice_dims(e->dims);
    return std::any_of(sizes.begin(), sizes.end(), [](const Atom& n) { return !is_tiny(n); });
  }
  return std::holds_alternative<ESeg>(exp) || std::holds_alternative<EPack>(exp) ||
         std::holds_alternative<ESort>(exp) || std::holds_alternative<EVersions>(exp) ||
         std::holds_alternative<ETune>(exp) || std::holds_alternative<ECall>(exp);
}

/// Whether one of the sizes is one of the variables.
bool mentions(const std::vector<Atom>& dims, const std::vector<VarId>& vars) {
  return std::any_of(dims.begin(), dims.end(), [&](const Atom& d) {
    return !d.is_const() && std::find(vars.begin(), vars.end(), d.var()) != vars.end();
  });
}

class DeviceScalars {
 public:
  explicit DeviceScalars(Program& p) : p_(p) {}

  void body(Body& b) {
    for (Stm& s : b.stms) {
      const bool is_host_loop =
          std::find(s.attrs.begin(), s.attrs.end(), kHostLoop) != s.attrs.end();
      if (!is_host_loop && is_device_sequential(p_, s)) {
        add_note(p_.notes, {s.prov, OneThread{OneThread::Why::kElements}});
        s = by_one_thread(p_, std::move(s));
      } else if (std::holds_alternative<EIf>(s.exp) || std::holds_alternative<ELoop>(s.exp)) {
        visit_bodies(s.exp, [&](Body& inner) { body(inner); });
      }
    }
  }

 private:
  Program& p_;
};

}  // namespace

bool is_device_sequential(const Program& p, const Stm& s) {
  const Exp& exp = s.exp;
  const bool is_branch = std::holds_alternative<EIf>(exp);
  if ((!is_branch && !std::holds_alternative<ELoop>(exp)) || wants_host(p, exp)) return false;
  for (const VarId v : s.pat) {
    const auto& dims = p.type_of(v).dims;
    if ((is_branch && !is_tiny(dims)) || mentions(dims, s.pat)) return false;
  }
  if (any_inside(exp, [&](const Stm& s) { return wants_host(p, s.exp); })) return false;
  return any_inside(exp, [](const Stm& s) {
    const auto* index = std::get_if<EIndex>(&s.exp);
    return (index && all_fixed(index->dims)) || std::holds_alternative<EUpdate>(s.exp);
  });
}

Stm by_one_thread(Program& p, Stm s) {
  Stm around;
  around.pat = s.pat;
  around.prov = s.prov;
  s.pat = copy_pattern(p, s.pat);
  ESeg seg;
  seg.body.results.assign(s.pat.begin(), s.pat.end());
  seg.body.stms.push_back(std::move(s));
  around.exp = std::move(seg);
  return around;
}

void device_scalars(Program& p) {
  DeviceScalars pass(p);
  visit_bodies(p, [&](Body& b) { pass.body(b); });
}

}  // namespace kenaz::flatten
