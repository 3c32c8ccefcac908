#include "kernels/passes/cse.h"

#include <functional>
#include <string>

#include "kernels/ir/visit.h"

namespace kenaz::passes {
namespace {

using namespace ir;

void add(std::vector<uint64_t>& key, const Atom& a) {
  key.push_back(a.is_const() ? static_cast<uint64_t>(a.constant().type) : ~uint64_t{0});
  key.push_back(a.is_const() ? a.constant().bits : a.var().index);
}

void add(std::vector<uint64_t>& key, const std::string& s) {
  key.push_back(s.size());
  for (const char c : s) key.push_back(static_cast<unsigned char>(c));
}

}  // namespace

size_t CommonExpressions::Hash::operator()(const Key& k) const noexcept {
  uint64_t h = 14695981039346656037u;
  for (const uint64_t x : k) h = (h ^ x) * 1099511628211u;
  return h ^ (h >> 32);
}

void CommonExpressions::back_to(size_t mark) {
  while (order_.size() > mark) {
    seen_.erase(order_.back());
    order_.pop_back();
  }
}

std::optional<VarId> CommonExpressions::find_or_add(const Program& p, const Stm& s) {
  if (!s.attrs.empty()) return std::nullopt;
  Key key{s.exp.index()};
  if (const auto* e = std::get_if<EPrim>(&s.exp)) {
    key.push_back(static_cast<uint64_t>(e->op));
    key.push_back(static_cast<uint64_t>(e->type));
    key.push_back(static_cast<uint64_t>(e->to));
  } else if (const auto* e = std::get_if<EAssert>(&s.exp)) {
    for (const auto& part : e->message) {
      const auto* text = std::get_if<std::string>(&part);
      add(key, text ? *text : std::string());
    }
  } else if (const auto* e = std::get_if<EIndex>(&s.exp)) {
    for (const Dim& d : e->dims) key.push_back(d.index());
  } else if (const auto* e = std::get_if<ERearrange>(&s.exp)) {
    for (const int d : e->perm) key.push_back(static_cast<uint64_t>(d));
  } else if (const auto* e = std::get_if<ETune>(&s.exp)) {
    key.push_back(e->id.index);
  } else if (std::holds_alternative<EAtom>(s.exp)) {
    // A size that has been checked: the dims of arrays that are made alike shall be the same.
    if (!p.type_of(s.pat[0]).is_scalar()) return std::nullopt;
  } else if (!std::holds_alternative<EReshape>(s.exp)) {
    return std::nullopt;
  }
  key.push_back(~uint64_t{1});
  visit_operands(s.exp, [&](const auto& a) { add(key, Atom(a)); });
  key.push_back(~uint64_t{2});
  for (const VarId c : s.certs) key.push_back(c.index);
  const auto [it, is_new] = seen_.try_emplace(std::move(key), s.pat[0]);
  if (!is_new) return it->second;
  order_.push_back(it->first);
  return std::nullopt;
}

}  // namespace kenaz::passes
