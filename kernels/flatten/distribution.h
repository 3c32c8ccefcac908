// The walk through a nest that distributes it; distribute.h says what it does. For the files of
// this folder only.
#pragma once

#include <set>
#include <vector>

#include "kernels/flatten/distribute.h"
#include "kernels/flatten/pieces.h"

namespace kenaz::flatten {

class Distribution : public Pieces {
 public:
  Distribution(ir::Program& p, const ProgramFacts& facts, Parallelism& parallelism,
               std::set<ir::VarId>& kept, GroupChoice* choice)
      : Pieces(p, parallelism), facts_(facts), kept_(kept), choice_(choice) {}

  /// Spreads the statement over the nest around it. Gives the arrays of what it binds, of the
  /// nest's dims and their own.
  Vars spread(const Nest& nest, ir::Stm s, Stms& out);

  const std::vector<ir::Note>& notes() const { return notes_; }
  /// A value that varies in size had to be passed on: nothing that was made is good. `kept` has
  /// gained a statement that must stay in its thread.
  bool failed() const { return failed_; }

 private:
  Vars spread_exp(const Nest& nest, ir::Stm s, Stms& out);
  /// As spread, but a map in a loop that becomes many ESegs may be one of workgroups instead.
  Vars spread_or_group(const Nest& nest, const ir::Stm& s, Stms& out);
  Vars soac(const Nest& nest, ir::Stm s, Stms& out);
  Vars scatter(const Nest& nest, ir::Stm s, Stms& out);
  Vars hist(const Nest& nest, ir::Stm s, Stms& out);
  Vars pack(const Nest& nest, ir::Stm s, Stms& out);
  Vars sort(const Nest& nest, ir::Stm s, Stms& out);
  Vars sort_rows(const Nest& nest, const ir::Stm& s, ir::ESort e, Stms& out);
  Vars sorted(const Vars& arrays, const ir::Atom& total, const ir::Stm& s, Stms& out);
  ir::VarId low_bits(const Nest& in, ir::VarId keys, PrimType key, const ir::Stm& s, Stms& out);
  /// Of a pack or sort, whose elements are made in `in`.
  Vars moved(const Nest& in, ir::Body& elements, const ir::Stm& s, ir::ESeg seg, Stms& out);
  Vars loop(const Nest& nest, ir::Stm s, Stms& out);
  ir::Atom where_points_are(const Nest& nest, const ir::Atom& condition, const ir::Stm& s,
                            Stms& out);
  ir::Atom waiting(const ir::ELoop::Param& param, const std::vector<ir::VarId>& certs,
                   ir::ProvId prov);
  Vars branch(const Nest& nest, ir::Stm s, Stms& out);

  Vars body(const Nest& nest, ir::Body b, Stms& out);
  void walk(const Nest& nest, ir::Body& b, Stms& group, Stms& out);
  bool is_used_behind(const ir::Body& b, size_t k) const;
  void pass_on(const Nest& nest, Stms& group, const ir::Body& b, size_t next, Stms& out);
  /// One ESeg with all the writes of a scatter or histogram.
  Vars write_all(const Nest& in, ir::Body& b, std::vector<ir::SegWrite> writes, const ir::Stm& s,
                 Stms& out);
  /// The combinator's own level, and the rows of its inputs.
  Nest enter(const Nest& nest, const ir::Atom& width, const Vars& inputs, ir::Lambda& map,
             const ir::Stm& s);
  /// Lets all that the body does wait for `certs`, and the results that it only hands on. Its
  /// parameters wait already.
  void wait_inside(ir::Body& b, const Vars& params, const std::vector<ir::VarId>& certs,
                   ir::ProvId prov);
  ir::Body operands(const Nest& in, ir::Body& b, Stms& out, ir::SegSpace& space);
  void make_results(const Nest& in, ir::Body& b, Stms& out);
  static std::vector<ir::Atom> ordered(const std::vector<ir::Atom>& results,
                                       const std::vector<ir::SegWrite>& writes);
  bool spreads(const Nest& nest, const ir::Stm& s);

  const ProgramFacts& facts_;
  std::set<ir::VarId>& kept_;
  GroupChoice* choice_;  // null: all levels only
  bool in_loop_ = false;
  std::vector<ir::Note> notes_;  // of what is parallel and stays in its thread
  bool failed_ = false;
  ir::VarId spreading_;  // the first variable of the statement that is being spread
};

}  // namespace kenaz::flatten
