// The walk through a nest that distributes it; distribute.h says what it does. For the files of
// this folder only.
#pragma once

#include <set>
#include <vector>

#include "kernels/flatten/nest.h"
#include "kernels/flatten/parallelism.h"
#include "kernels/ir/ir.h"

namespace kenaz::flatten {

using Stms = std::vector<ir::Stm>;
using Vars = std::vector<ir::VarId>;

class Distribution {
 public:
  Distribution(ir::Program& p, const ProgramFacts& facts, Parallelism& parallelism,
               std::set<ir::VarId>& kept, GroupChoice* choice)
      : p_(p), facts_(facts), parallelism_(parallelism), kept_(kept), choice_(choice), values_(p) {}

  /// Spreads the statement over the nest around it. Gives the arrays of what it binds, of the
  /// nest's dims and their own.
  Vars spread(const Nest& nest, ir::Stm s, Stms& out);

  size_t pieces() const { return pieces_; }
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
  /// Of a pack or sort, whose elements are made in `in`.
  Vars moved(const Nest& in, ir::Body& elements, const ir::Stm& s, ir::ESeg seg, Stms& out);
  Vars loop(const Nest& nest, ir::Stm s, Stms& out);
  ir::Atom waiting(const ir::ELoop::Param& param, const std::vector<ir::VarId>& certs,
                   ir::ProvId prov);
  Vars branch(const Nest& nest, ir::Stm s, Stms& out);

  Vars body(const Nest& nest, ir::Body b, Stms& out);
  void walk(const Nest& nest, ir::Body& b, Stms& group, Stms& out);
  bool reshape(const Nest& nest, const ir::Stm& s, Stms& out);
  std::optional<ir::VarId> whole(const Nest& nest, ir::VarId v, ir::ProvId prov, Stms& out);
  bool is_used_behind(const ir::Body& b, size_t k) const;
  void pass_on(const Nest& nest, Stms& group, const ir::Body& b, size_t next, Stms& out);
  /// Whether the value is made by one of these variables, or made again from one.
  bool depends_on(const ir::VarSet& made, const ir::Atom& a) const;
  /// For what a statement binds, at all points of the nest.
  Vars new_arrays(const Nest& nest, const Vars& pat);
  /// One ESeg with all the writes of a scatter or histogram.
  Vars write_all(const Nest& in, ir::Body& b, std::vector<ir::SegWrite> writes, const ir::Stm& s,
                 Stms& out);
  Vars results(const Nest& nest, Stms group, const std::vector<ir::Atom>& atoms, Stms& out);
  /// The combinator's own level, and the rows of its inputs.
  Nest enter(const Nest& nest, const ir::Atom& width, const Vars& inputs, ir::Lambda& map,
             const ir::Stm& s);
  /// Those of a statement's certificates that differ between points: ESegs cannot wait for them as
  /// a whole.
  std::vector<ir::VarId> varying_certs(const ir::Stm& s) const;
  /// Lets all that the body does wait for them, and the results that it only hands on. Its
  /// parameters wait already.
  void wait_inside(ir::Body& b, const Vars& params, const std::vector<ir::VarId>& certs,
                   ir::ProvId prov);
  ir::Body operands(const Nest& in, ir::Body& b, Stms& out, ir::SegSpace& space);
  void make_results(const Nest& in, ir::Body& b, Stms& out);
  Vars combined(ir::SegKind kind, const Nest& in, const ir::Monoid& m,
                const std::vector<ir::Atom>& atoms, const ir::Stm& s, Stms& out);
  Vars written(const Nest& in, ir::SegWrite w, std::vector<ir::Atom> index,
               const std::vector<ir::Atom>& values, const ir::Stm& s, Stms& out);
  Nest with_elements(Nest nest, const std::vector<ir::Atom>& dims, std::vector<ir::Dim>& at);
  Stms read_elements(const std::vector<ir::Atom>& arrays, const std::vector<ir::Dim>& at,
                     ir::ProvId prov, std::vector<ir::Atom>& elements);
  static std::vector<ir::Atom> ordered(const std::vector<ir::Atom>& results,
                                       const std::vector<ir::SegWrite>& writes);
  ir::VarId own_array(const Nest& nest, const ir::Atom& value, ir::ProvId prov, Stms& out);
  ir::VarId elementwise(const Nest& nest, ir::VarId v, ir::ProvId prov, Stms& out);
  Vars emit(ir::ESeg seg, const ir::Stm& of, Stms& out);
  bool spreads(const ir::Stm& s);

  ir::Program& p_;
  const ProgramFacts& facts_;
  Parallelism& parallelism_;
  std::set<ir::VarId>& kept_;
  GroupChoice* choice_;  // null: all levels only
  bool in_loop_ = false;
  PointValues values_;
  std::set<ir::VarId> views_;  // arrays of values_ whose memory others have as well
  size_t pieces_ = 0;
  std::vector<ir::Note> notes_;  // of what is parallel and stays in its thread
  bool failed_ = false;
  ir::VarId spreading_;  // the first variable of the statement that is being spread
  ir::ProvId prov_;
  std::vector<ir::VarId> certs_;  // that all that is emitted waits for
};

}  // namespace kenaz::flatten
