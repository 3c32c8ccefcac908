// Collects a report while code is generated.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "kernels/explain/report.h"
#include "kernels/explain/traffic.h"
#include "kernels/ir/ir.h"
#include "kernels/plan/plan.h"

namespace kenaz::explain {

/// The names of the versions that an if chooses between, by the variable of its condition; the
/// second is empty if further ifs follow.
using VersionNames = std::map<ir::VarId, std::pair<std::string, std::string>>;

class Recorder {
 public:
  /// Of a program at stage seg whose versions have become ifs. It must outlive this.
  Recorder(const ir::Program& p, VersionNames names);

  void begin_entry(const std::string& name);
  /// Code of a branch of an if begins.
  void enter(const ir::Atom& cond, bool then);
  void leave();
  /// An operation. What follows is about it.
  void operation(const ir::Stm& s, const ir::ESeg& e);
  /// .. does what the map at this place would do, too.
  void takes_map(ir::ProvId map);
  void plans(const plan::Facts& facts, std::span<const plan::Choice> choices,
             const program::Target& target);
  /// The combinator of the operation's body does not stay in its thread after all.
  void takes_threads(ir::ProvId combinator);

  Report take();

 private:
  std::vector<Inside> inside_of(const ir::Body& b) const;
  SourceRange range(ir::ProvId place) const;
  std::vector<SourceRange> fused_at(ir::ProvId place) const;

  const ir::Program& p_;
  const Sizes sizes_;
  const VersionNames names_;
  std::vector<std::optional<InVersion>> around_;  // per branch; null: of an if of the program's
  Report report_;
};

}  // namespace kenaz::explain
