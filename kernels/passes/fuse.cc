// Fusion: a combinator whose plain results are inputs of a later one moves into it, and
// combinators over the same input become one.
//
// Let P stand before C. What stands between them and depends on P (or must follow it because of
// what it consumes) moves behind C; if C needs some of that, nothing can be done. Results of P
// that others need as well become further results of the fused combinator, so no work is done
// twice and none is lost.
#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "kernels/ir/analysis/alias.h"
#include "kernels/ir/analysis/rename.h"
#include "kernels/ir/analysis/uses.h"
#include "kernels/ir/builder.h"
#include "kernels/passes/merge.h"
#include "kernels/passes/passes.h"

namespace kenaz::passes {
namespace {

using namespace ir;

using AliasClasses = std::unordered_set<uint32_t>;

/// A statement and what decides where it may stand.
struct Node {
  Stm stm;
  VarSet uses;            // variables from outside of it
  AliasClasses reads;     // classes of the arrays among them
  AliasClasses consumes;  // classes of the arrays it consumes
  bool nested = false;    // combinators inside its lambdas
  bool few = false;       // .. which a thread does for want of elements, to make a few scalars
};

template <class Set, class Other>
bool meet(const Set& a, const Other& b) {
  return std::any_of(b.begin(), b.end(), [&](const auto& x) { return a.contains(x); });
}

bool is_combinator(const Exp& e) {
  return std::holds_alternative<ESoac>(e) || std::holds_alternative<EScatter>(e) ||
         std::holds_alternative<EHist>(e) || std::holds_alternative<EPack>(e) ||
         std::holds_alternative<ESort>(e);
}

bool has_combinator(const Body& b) {
  return std::any_of(b.stms.begin(), b.stms.end(), [](const Stm& s) {
    bool found = is_combinator(s.exp);
    visit_bodies(s.exp, [&](const Body& inner) { found = found || has_combinator(inner); });
    return found;
  });
}

/// Whether flattening leaves all combinators to a thread, and there is little around them.
/// `statements` counts.
bool has_little(const Body& b, size_t& statements) {
  constexpr size_t kMost = 64;
  statements += b.stms.size();
  if (statements > kMost) return false;
  return std::all_of(b.stms.begin(), b.stms.end(), [&](const Stm& s) {
    const auto* soac = std::get_if<ESoac>(&s.exp);
    if (soac == nullptr && is_combinator(s.exp)) return false;
    if (soac != nullptr &&
        !(soac->width.is_const() && soac->width.constant().as_i64() <= kFewElements)) {
      return false;
    }
    bool little = true;
    visit_bodies(s.exp,
                 [&](const Body& inner) { little = little && has_little(inner, statements); });
    return little;
  });
}

class Fuse {
 public:
  explicit Fuse(Program& p) : p_(p), aliases_(p) {}

  void body(Body& b, bool in_thread = false) {
    int combinators = 0;
    copies_as_maps(b);
    for (Stm& s : b.stms) {
      const bool inside = in_thread || std::holds_alternative<ESeg>(s.exp);
      visit_bodies(s.exp, [&](Body& inner) { body(inner, inside); });
      if (combinator(s)) combinators++;
    }
    if (combinators < 2) return;
    in_thread_ = in_thread;
    nodes_.clear();
    live_out_.clear();
    for (const Atom& a : b.results) {
      if (!a.is_const()) live_out_.insert(a.var());
    }
    for (Stm& s : b.stms) nodes_.push_back(node(std::move(s)));
    vertical();
    horizontal();
    b.stms.clear();
    for (Node& n : nodes_) b.stms.push_back(std::move(n.stm));
  }

 private:
  /// A copy that a combinator takes is written as the map that changes nothing, which may move into
  /// it. simplify makes copies of those that did not.
  void copies_as_maps(Body& b) {
    std::unordered_set<VarId> taken;
    for (size_t n = b.stms.size(); n-- > 0;) {
      Stm& s = b.stms[n];
      if (const auto c = combinator(s)) taken.insert(c->inputs->begin(), c->inputs->end());
      const auto* copy = std::get_if<ECopy>(&s.exp);
      if (copy == nullptr || !taken.contains(s.pat[0])) continue;
      const VarId array = copy->array;
      ESoac map{p_.type_of(array).dims[0], {array}, {}, {}, {}};
      const VarId row = p_.new_var(row_type(p_.type_of(array)), p_.vars[array.index].name);
      map.map.params = {row};
      map.map.body.results = {row};
      map.map.ret = {p_.type_of(row)};
      s.exp = std::move(map);
    }
  }

  Node node(Stm s) {
    Node n;
    n.uses = free_vars(p_, s);
    for (const VarId v : n.uses) {
      if (!p_.type_of(v).is_scalar()) n.reads.insert(aliases_.of(v));
    }
    for (const VarId v : consumed_in(p_, s)) n.consumes.insert(aliases_.of(v));
    size_t statements = 0;
    n.few =
        std::all_of(s.pat.begin(), s.pat.end(), [&](VarId v) { return p_.type_of(v).rank() == 1; });
    visit_bodies(s.exp, [&](const Body& inner) {
      n.nested = n.nested || has_combinator(inner);
      n.few = n.few && has_little(inner, statements);
    });
    n.stm = std::move(s);
    return n;
  }

  void vertical() {
    for (size_t c = 0; c < nodes_.size(); c++) {
      // Each success changes what feeds the combinator, so it is looked at again.
      for (bool again = true; again;) {
        again = false;
        const auto consumer = combinator(nodes_[c].stm);
        if (!consumer) break;
        for (size_t i = c; i-- > 0 && !again;) {
          if (!feeds(nodes_[i], *consumer) || !worth_it(nodes_[i], nodes_[c])) continue;
          if (const auto at = fuse_pair(i, c)) {
            c = *at;
            again = true;
          }
        }
      }
    }
  }

  void horizontal() {
    for (size_t c = 0; c < nodes_.size(); c++) {
      const auto* e = std::get_if<ESoac>(&nodes_[c].stm.exp);
      if (!e || nodes_[c].nested || e->inputs.empty()) continue;
      for (size_t i = c; i-- > 0;) {
        const auto* f = std::get_if<ESoac>(&nodes_[i].stm.exp);
        if (!f || nodes_[i].nested || f->width != e->width || !meet_inputs(*e, *f)) continue;
        if (meet(nodes_[c].uses, nodes_[i].stm.pat)) continue;
        if (const auto at = fuse_pair(i, c)) {
          c = *at;
          break;
        }
      }
    }
  }

  /// An input in memory that both read.
  static bool meet_inputs(const ESoac& a, const ESoac& b) {
    return std::any_of(a.inputs.begin(), a.inputs.end(), [&](VarId v) {
      return std::find(b.inputs.begin(), b.inputs.end(), v) != b.inputs.end();
    });
  }

  static bool feeds(const Node& producer, const Combinator& consumer) {
    if (!std::holds_alternative<ESoac>(producer.stm.exp)) return false;
    return std::any_of(consumer.inputs->begin(), consumer.inputs->end(), [&](VarId v) {
      const auto& pat = producer.stm.pat;
      return std::find(pat.begin(), pat.end(), v) != pat.end();
    });
  }

  /// Parallel work inside of a producer is kept out of operators' way: a reduction of results of
  /// inner combinators is two launches that are each of one kind. A thread has nothing to launch.
  bool worth_it(const Node& producer, const Node& consumer) const {
    if (in_thread_ || !producer.nested) return true;
    const auto* e = std::get_if<ESoac>(&consumer.stm.exp);
    return e && e->scans.empty() && (e->reduces.empty() || producer.few);
  }

  /// The new place of the fused statement.
  std::optional<size_t> fuse_pair(size_t p, size_t c) {
    const Node& producer = nodes_[p];
    const Node& consumer = nodes_[c];
    std::vector<size_t> before, after;
    VarSet made(producer.stm.pat.begin(), producer.stm.pat.end());
    AliasClasses reads = producer.reads;
    AliasClasses consumes = producer.consumes;
    for (size_t i = p + 1; i < c; i++) {
      const Node& n = nodes_[i];
      const bool follows = meet(n.uses, made) || meet(n.consumes, reads) || meet(n.reads, consumes);
      if (!follows) {
        before.push_back(i);
        continue;
      }
      after.push_back(i);
      made.insert(n.stm.pat.begin(), n.stm.pat.end());
      reads.insert(n.reads.begin(), n.reads.end());
      consumes.insert(n.consumes.begin(), n.consumes.end());
      if (meet(consumer.uses, n.stm.pat) || meet(n.reads, consumer.consumes) ||
          meet(n.consumes, consumer.reads)) {
        return std::nullopt;
      }
    }
    if (meet(producer.reads, consumer.consumes) || !uses_allow(producer, consumer) ||
        producer.stm.attrs != consumer.stm.attrs) {
      return std::nullopt;
    }
    const ProvId place = consumer.stm.prov;
    if (producer.stm.prov != place) add_note(p_.notes, {place, Fused{producer.stm.prov}});
    Stm fused = merge_combinators(p_, std::move(nodes_[p].stm), std::move(nodes_[c].stm));
    std::vector<Node> order;
    for (const size_t i : before) order.push_back(std::move(nodes_[i]));
    const size_t at = p + order.size();
    order.push_back(node(std::move(fused)));
    for (const size_t i : after) order.push_back(std::move(nodes_[i]));
    const auto first = nodes_.begin() + static_cast<std::ptrdiff_t>(p);
    std::move(order.begin(), order.end(), first);
    nodes_.erase(nodes_.begin() + static_cast<std::ptrdiff_t>(c));
    return at;
  }

  /// The consumer may use plain results as inputs, and nothing else of what the producer makes;
  /// only an ESoac can give the producer's results to others.
  bool uses_allow(const Node& producer, const Node& consumer) {
    const auto& e = std::get<ESoac>(producer.stm.exp);
    const size_t special = values_of(e.scans) + values_of(e.reduces);
    const auto& pat = producer.stm.pat;
    Stm probe = consumer.stm;
    auto& inputs = *combinator(probe)->inputs;
    for (const VarId v : inputs) {
      const auto at = std::find(pat.begin(), pat.end(), v);
      if (at != pat.end() && static_cast<size_t>(at - pat.begin()) < special) return false;
    }
    std::erase_if(inputs,
                  [&](VarId v) { return std::find(pat.begin(), pat.end(), v) != pat.end(); });
    bool other_use = false;
    for_each_use(p_, probe, [&](VarId v) {
      other_use = other_use || std::find(pat.begin(), pat.end(), v) != pat.end();
    });
    if (other_use) return false;
    if (std::holds_alternative<ESoac>(consumer.stm.exp)) return true;
    return std::none_of(pat.begin(), pat.end(), [&](VarId v) {
      return uses_in_body(v) > (consumer.uses.contains(v) ? 1 : 0);
    });
  }

  /// Statements of this body that use it, plus one for a use elsewhere.
  int uses_in_body(VarId v) {
    int n = live_out_.contains(v) ? 1 : 0;
    for (const Node& node : nodes_) n += node.uses.contains(v) ? 1 : 0;
    return n;
  }

  Program& p_;
  Aliases aliases_;
  std::vector<Node> nodes_;
  VarSet live_out_;         // results of the body
  bool in_thread_ = false;  // whether one thread runs the body
};

}  // namespace

void fuse(Program& p) {
  Fuse pass(p);
  visit_bodies(p, [&](Body& b) { pass.body(b); });
  remove_dead_code(p);  // producers' results that only the consumer wanted
}

}  // namespace kenaz::passes
