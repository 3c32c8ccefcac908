#include "kernels/futhark/consumption/ledger.h"

#include <fmt/format.h>

#include <algorithm>

namespace kenaz::consumption {
namespace {

/// A root of `a` that fits, or null.
template <class Predicate>
const RootId* find_root(const AliasPtr& a, const Predicate& fits) {
  if (!a) return nullptr;
  for (const RootId& r : a->roots) {
    if (fits(r)) return &r;
  }
  for (const AliasPtr& p : a->parts) {
    if (const RootId* found = find_root(p, fits)) return found;
  }
  return nullptr;
}

}  // namespace

std::string place(const SourceRange& range, const SourceRange& seen_from) {
  if (range.file != seen_from.file || !range.file) return range.str();
  return range.str().substr(range.file->name.size() + 1);
}

RootId Ledger::add(Root root) {
  const auto id = static_cast<RootId>(roots_.size());
  roots_.push_back({std::move(root), id, id + 1, {}});
  return id;
}

void Ledger::tie(RootId first) {
  for (RootId r = first; r < roots_.size(); r++) {
    roots_[r].group_begin = first;
    roots_[r].group_end = static_cast<RootId>(roots_.size());
  }
}

void Ledger::use(const std::string& variable, const SourceRange& range, const AliasPtr& aliases) {
  if (!aliases) return;
  uses_.push_back({&variable, range, aliases});
  if (consumptions_.empty()) return;
  const RootId* bad = find_root(aliases, [&](RootId r) { return is_consumed(r); });
  if (bad) report_use(variable, range, *bad);
}

void Ledger::consume(const Roots& roots, const SourceRange& range, const std::string& by,
                     bool in_loop) {
  for (RootId r : roots) {
    if (!is_consumable(r)) return report_not_consumable(range, by, r);
    if (is_consumed(r)) return report_use(by.empty() ? root(r).name : by, range, r);
  }
  for (RootId r : roots) {
    for (RootId each = roots_[r].group_begin; each < roots_[r].group_end; each++) {
      if (is_consumed(each)) continue;
      roots_[each].consumed = consumptions_.size();
      consumptions_.push_back({each, range, by, in_loop});
    }
  }
}

Mark Ledger::mark() const {
  return {consumptions_.size(), uses_.size(), static_cast<RootId>(roots_.size())};
}

bool Ledger::consumed_since(const Mark& mark) const {
  return std::any_of(consumptions_.begin() + static_cast<std::ptrdiff_t>(mark.consumptions),
                     consumptions_.end(), [&](const auto& c) { return c.root < mark.next; });
}

std::vector<Consumption> Ledger::rewind(const Mark& mark) {
  std::vector<Consumption> out(
      consumptions_.begin() + static_cast<std::ptrdiff_t>(mark.consumptions), consumptions_.end());
  consumptions_.resize(mark.consumptions);
  for (const Consumption& c : out) roots_[c.root].consumed.reset();
  return out;
}

void Ledger::replay(const std::vector<Consumption>& consumptions) {
  for (const Consumption& c : consumptions) {
    if (is_consumed(c.root)) continue;  // by another branch
    roots_[c.root].consumed = consumptions_.size();
    consumptions_.push_back(c);
  }
}

Roots Ledger::used_since(const Mark& mark) const {
  Roots out;
  for (size_t i = mark.uses; i < uses_.size(); i++) {
    for (RootId r : all_roots(uses_[i].aliases)) {
      if (r < mark.next) out.push_back(r);
    }
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

void Ledger::recheck_uses(const Mark& mark) {
  for (size_t i = mark.uses; i < uses_.size(); i++) {
    const RootId* bad = find_root(uses_[i].aliases, [&](RootId r) {
      return r < mark.next && is_consumed(r) && consumptions_[*roots_[r].consumed].in_loop;
    });
    if (bad) return report_use(*uses_[i].variable, uses_[i].range, *bad);
  }
}

RootId Ledger::enter() {
  const RootId before = barrier_;
  barrier_ = static_cast<RootId>(roots_.size());
  return before;
}

std::string Ledger::describe(RootId id) const {
  const Root& r = root(id);
  if (r.kind != Root::kResult) return "\"" + r.name + "\"";
  return r.name.empty() ? "the result of a call" : "the result of applying \"" + r.name + "\"";
}

void Ledger::report(const SourceRange& range, std::string message, std::string anchor) {
  if (error_) return;
  error_.emplace();
  error_->range = range;
  error_->message = std::move(message);
  error_->anchor = std::move(anchor);
}

void Ledger::report_use(const std::string& variable, const SourceRange& range, RootId id) {
  if (failed()) return;
  const Consumption& c = consumptions_[*roots_[id].consumed];
  const std::string origin = describe(id), used = "\"" + variable + "\"";
  std::string message = "Using " + used;
  if (used != origin) message += ", which may be an alias of " + origin;
  message += fmt::format(", but this was consumed at {}", place(c.range, range));
  if (c.in_loop) message += " as an initial value of the loop";
  if (!c.by.empty() && c.by != variable && "\"" + c.by + "\"" != origin) {
    message += fmt::format(", through its alias \"{}\"", c.by);
  }
  report(range, message + ".", "use-after-consume");
  error_->notes.push_back({c.range, "It was consumed here"});
}

void Ledger::report_not_consumable(const SourceRange& range, const std::string& by, RootId id) {
  if (failed()) return;
  const Root& r = root(id);
  const std::string origin = describe(id);
  std::string message = "Consuming ";
  if (by.empty()) {
    message += r.kind == Root::kResult ? origin : "variable " + origin;
  } else {
    message += "variable \"" + by + "\"";
    if ("\"" + by + "\"" != origin) message += ", which may be an alias of " + origin;
  }
  message += ", which is not consumable.\n";
  if (r.kind == Root::kConstant) {
    message += origin + " is a constant that other functions use, too.";
  } else if (r.consumable) {
    message += "It comes from outside of this function or loop, which may run many times.";
  } else if (r.kind == Root::kLoopParameter) {
    message += "The type that the loop gives it has no \"*\".";
  } else {
    message += "It belongs to the caller: the type of the parameter has no \"*\".";
  }
  const bool starred = r.kind == Root::kParameter && !r.consumable;
  message += "\nHint: consume a copy of it, made by \"copy\"";
  message += starred ? ", or give the parameter's type a \"*\"." : ".";
  report(range, message, "not-consumable");
}

}  // namespace kenaz::consumption
