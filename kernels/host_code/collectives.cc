#include "kernels/host_code/collectives.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/host_code/ahead.h"
#include "kernels/host_code/behind.h"
#include "kernels/host_code/body_facts.h"
#include "kernels/host_code/cells.h"
#include "kernels/host_code/factors.h"
#include "kernels/host_code/monoids.h"
#include "kernels/host_code/neighbours.h"
#include "kernels/host_code/operands.h"
#include "kernels/host_code/plan_launch.h"
#include "kernels/host_code/seg_element.h"
#include "kernels/host_code/uneven.h"
#include "kernels/plan/team.h"
#include "kernels/plan/widen.h"
#include "kernels/primitives/hist/plans.h"
#include "kernels/primitives/reduce/plans.h"
#include "kernels/primitives/scan/plans.h"

namespace kenaz::host_code {

using body::Thread;
using ir::VarId;
using kir::Value;
using kir::Values;

namespace {

// Numbers of sizes: of all, of histograms, of reductions. explain/text.cc has words for them.
constexpr int kSegments = 0, kLength = 1, kBins = 2, kRows = 3, kColumns = 4;
constexpr int kFactorRows = 5, kFactorColumns = 6, kBetween = 7;

Monoids monoids_of(const ir::ESeg& e) {
  Monoids out;
  for (const auto& m : e.monoids) out.push_back(&m.op);
  for (const auto& w : e.writes) {
    if (w.combine) out.push_back(&w.combine->op);
  }
  return out;
}

/// A reduction or a scan, or a histogram.
class Collective {
 public:
  Collective(HostArrays& host, const ir::Stm& s, const ir::ESeg& e)
      : host_(host), ir_(host.ir()), s_(s), e_(e) {}

  void reduce_or_scan(const ir::Stm* map) {
    const bool scans = e_.kind == ir::SegKind::kScan;
    const size_t leading = e_.space.dims.size() - 1;
    lengths_ = count(leading, leading + 1);
    PlanRequest request;
    request.facts = facts(scans ? "scan" : "reduce", leading);
    request.sizes = {count(0, leading), lengths_};
    if (!scans && leading > 0) {
      factors_ = ir::factors_of(ir_, e_);
      grid_ = ir::last_dims(e_);
      if (factors_ && factors_->dims.row_end == factors_->dims.column) grid_ = factors_->dims;
      request.facts.grid = grid_facts();
      request.sizes.push_back(host_.konst(0));  // no bins
      request.sizes.push_back(count(grid_.row, grid_.column));
      request.sizes.push_back(count(grid_.column, grid_.end));
      if (factors_) add_factors(request);
    }
    const SegParts parts = make_parts(host_, s_, e_);
    std::optional<Behind> behind;
    if (map != nullptr) behind.emplace(host_, s_, *map);
    const Targets targets = behind ? Targets() : make_targets(leading);
    const Neighbours neighbours(host_, e_, Neighbours::Dims::kAny);
    bool from_body = true;
    const auto make_elements = elements(request, leading, parts, from_body, &neighbours);
    if (host_.failed()) return;
    const Reads reads = reads_of(ir_, e_.body);
    // Measured for rows of one array: on an H200 the product of a matrix of 16,384^2 and a vector
    // took 696 us by vectors, 248 us without, which is not explained.
    const bool several = !scans && leading > 0 && request.facts.op.commutative &&
                         reads.bytes > plan::bytes_of(request.facts.op.types);
    const bool along = from_body && !request.facts.slow && !request.facts.across && !several;
    const bool vectors = along && neighbours.count(scans) > 1;
    if (vectors) request.facts.widest = neighbours.count(scans);
    if (from_body) {
      request.facts.read_bytes = reads.bytes;
      request.facts.gathers = reads.gathers;
      if (leading == 0) request.facts.ahead = ahead_facts(host_, e_, neighbours);
    }
    const bool widens = !scans && plan::is_narrow_ring(request.facts.op);
    if (widens) plan::widen(request.facts.op);
    request.bind = [&](Thread& t, plan::Asks asks) {
      plan::Problem problem;
      problem.op = joined_operator(t, monoids_of(e_));
      problem.elements = make_elements(t, asks);
      if (request.facts.ahead) problem.elements.ahead = ahead_elements(t, neighbours);
      if (scans && from_body) {
        problem.dry_elements = dry_elements(t, leading, parts, vectors ? &neighbours : nullptr);
      }
      const Value length = scans ? t.args.operand(lengths_) : kir::i64(1);
      problem.sink = behind ? behind->sink(t, length) : sink(t, targets, length, scans);
      if (widens) plan::widen(t.k, problem);
      return problem;
    };
    launch_plans(host_, scans ? primitives::scan_plans() : primitives::reduce_plans(), request);
  }

  void histogram() {
    const ir::SegWrite& w = e_.writes[0];
    const auto leading = static_cast<size_t>(w.segment_rank);
    host_.settle_borrowed();
    std::vector<HostArray> dests;
    for (size_t k = 0; k < w.dests.size(); k++) {
      dests.push_back(host_.normalised(host_.array(w.dests[k])));
      host_.bind(s_.pat[k], dests.back());
    }
    const std::vector<Operand> dims = dests[0].layout.dims;
    const std::vector<Operand> bins(dims.begin() + static_cast<std::ptrdiff_t>(leading),
                                    dims.end());
    lengths_ = count(leading, e_.space.dims.size());
    PlanRequest request;
    request.facts = facts("histogram", leading);
    request.facts.across = false;
    request.facts.op.commutative = true;  // the language requires it of histograms
    const Operand all_bins = host_.count(bins).operand();
    const std::optional<int64_t> known_bins = host_.as_const(all_bins);
    request.facts.bins = known_bins ? plan::HostExpr(*known_bins) : plan::HostExpr::size(kBins);
    request.sizes = {count(0, leading), lengths_, all_bins};
    const SegParts parts = make_parts(host_, s_, e_);
    bool from_body = true;
    const auto make_elements = elements(request, leading, parts, from_body);
    if (host_.failed()) return;
    request.facts.items = primitives::hist_items(request.facts);
    request.bind = [&](Thread& t, plan::Asks) {
      plan::Problem problem;
      problem.op = joined_operator(t, monoids_of(e_));
      problem.op.facts.commutative = true;
      const plan::Elements inner = make_elements(t, plan::Asks::kBySegment);
      Values sizes;
      for (const Operand& n : bins) sizes.push_back(t.args.operand(n));
      problem.elements.at = [inner, sizes](kir::Builder& k, const plan::Place& at) {
        return in_bin(k, sizes, inner.at(k, at));
      };
      for (const auto& d : dests) problem.bins.push_back(t.args.block(d.block));
      return problem;
    };
    launch_plans(host_, primitives::hist_plans(), request);
  }

 private:
  /// How many points the space's dims from `from` to `to` have.
  Operand count(size_t from, size_t to) {
    std::vector<Operand> sizes;
    for (size_t d = from; d < to; d++) sizes.push_back(host_.scalar(e_.space.dims[d].size));
    return host_.count(sizes).operand();
  }

  plan::Facts facts(const char* what, size_t leading) {
    plan::Facts f;
    f.name = host_.kernel_name(what);
    f.prov = s_.prov;
    f.op = joined_facts(ir_, monoids_of(e_));
    f.segments = leading == 0 ? plan::HostExpr(1) : plan::HostExpr::size(kSegments);
    f.length = plan::HostExpr::size(kLength);
    f.across = reads_across(ir_, e_);
    f.slow = is_slow(e_.body);
    f.fails = may_stop(e_.body);
    for (const ir::Monoid* m : monoids_of(e_)) {
      // Drivers make a copy of the operator for each element that a thread takes at a time.
      constexpr int kFewItems = 4;
      constexpr size_t kManyScalars = 4;
      const bool is_scan = e_.kind == ir::SegKind::kScan;
      const bool slow = is_slow(m->op.body);
      if (is_scan && f.op.types.size() > kManyScalars && slow) f.items = kFewItems;
      f.slow = f.slow || slow;
      f.fails = f.fails || may_stop(m->op.body);
    }
    return f;
  }

  plan::Grid grid_facts() const {
    const SharedReads shared = shared_reads(ir_, e_, grid_);
    plan::Grid grid;
    grid.rows = grid_.row < grid_.column ? plan::HostExpr::size(kRows) : plan::HostExpr(1);
    grid.columns = plan::HostExpr::size(kColumns);
    grid.rows_share = shared.by_rows;
    grid.columns_share = shared.by_columns;
    return grid;
  }

  /// Elements made by the body or, where plans have no memory for that or threads should help each
  /// other, by a map before them.
  using MakeElements = std::function<plan::Elements(Thread&, plan::Asks)>;
  MakeElements elements(PlanRequest& request, size_t leading, const SegParts& parts,
                        bool& from_body, const Neighbours* neighbours = nullptr) {
    const auto by_body = [this, leading, parts, neighbours](Thread& t, plan::Asks asks) {
      const size_t rest = e_.space.dims.size() - leading;
      plan::Elements elements;
      if (asks == plan::Asks::kForFactors) {
        elements.factors = factor_functions(host_, t, e_, *factors_);
        return elements;
      }
      if (asks == plan::Asks::kByGrid) {
        const std::vector<size_t> groups = {grid_.row, grid_.column - grid_.row,
                                            grid_.end - grid_.column, rest};
        const auto f = point_function(host_, t, e_, groups, parts);
        elements.at = [f](kir::Builder& k, const plan::Place& at) {
          return k.call(f, {at.segment, at.row, at.column, at.position});
        };
        return elements;
      }
      const auto f = point_function(host_, t, e_, {leading, rest}, parts);
      elements.at = [f](kir::Builder& k, const plan::Place& at) {
        return k.call(f, {at.segment, at.position});
      };
      if (neighbours != nullptr)
        elements.many = neighbours->many(t, parts, Neighbours::Plain::kStored);
      return elements;
    };
    PlanRequest trial = request;
    trial.bind = [&](Thread& t, plan::Asks asks) {
      plan::Problem problem;
      problem.elements = by_body(t, asks);
      return problem;
    };
    from_body = !UnevenMap(host_, s_, e_, parts).any() && !needs_thread_memory(host_, trial);
    if (from_body) return by_body;
    request.facts.grid = {};
    request.facts.factors = {};
    return from_memory(map_operands(host_, s_, e_, parts));
  }

  /// The elements without what making them stores besides; none if they store nothing, or arrays.
  plan::Elements dry_elements(Thread& t, size_t leading, const SegParts& parts,
                              const Neighbours* neighbours) {
    const bool scalars = std::all_of(parts.stored.begin(), parts.stored.end(), [&](const auto& a) {
      return a.layout.dims.size() == e_.space.dims.size();
    });
    if (parts.stored.empty() || !scalars) return {};
    SegParts all = parts;
    all.hands_all = true;
    all.stored.clear();
    plan::Elements elements;
    const auto f = point_function(host_, t, e_, {leading, e_.space.dims.size() - leading}, all);
    elements.at = [f, count = operands_of(e_)](kir::Builder& k, const plan::Place& at) {
      Values x = k.call(f, {at.segment, at.position});
      x.resize(count);
      return x;
    };
    if (neighbours != nullptr)
      elements.many = neighbours->many(t, parts, Neighbours::Plain::kDropped);
    return elements;
  }

  MakeElements from_memory(std::vector<HostArray> operands) {
    const Operand length = lengths_;
    return [operands = std::move(operands), length](Thread& t, plan::Asks) {
      return elements_from(t, operands, length);
    };
  }

  void add_factors(PlanRequest& request) {
    plan::Factors facts = factor_facts(ir_, *factors_);
    const ir::GridDims& dims = factors_->dims;
    facts.rows = plan::HostExpr::size(kFactorRows);
    facts.columns = plan::HostExpr::size(kFactorColumns);
    if (dims.row_end != dims.column) facts.between = plan::HostExpr::size(kBetween);
    request.facts.factors = std::move(facts);
    request.sizes.push_back(count(dims.row, dims.row_end));
    request.sizes.push_back(count(dims.column, dims.end));
    request.sizes.push_back(count(dims.row_end, dims.column));
  }

  /// Where the monoids' values go.
  struct Targets {
    std::vector<BlockReg> arrays;
    std::optional<Cells> cells;  // of one segment's reduction, instead
  };
  Targets make_targets(size_t leading) {
    Targets out;
    const size_t n = operands_of(e_);
    if (e_.kind == ir::SegKind::kScan || leading > 0) {
      for (size_t k = 0; k < n; k++) out.arrays.push_back(host_.make_and_bind(s_.pat[k]).block);
      return out;
    }
    const auto end = s_.pat.begin() + static_cast<std::ptrdiff_t>(n);
    const bool told = std::any_of(s_.pat.begin(), end, [&](ir::VarId v) { return host_.reads(v); });
    out.cells = allocate_cells(host_, n, told);
    for (size_t k = 0; k < n; k++) {
      host_.bind(s_.pat[k], out.cells->scalar(ir_.type_of(s_.pat[k]).prim, k));
    }
    return out;
  }

  plan::Sink sink(Thread& t, const Targets& targets, const Value& length, bool scans) {
    plan::Sink sink;
    if (targets.cells) {
      // What is made besides may not be there when the scalars are.
      const bool alone = s_.pat.size() == operands_of(e_);
      const CellStores cells(t, *targets.cells,
                             alone ? program::Kernel::kEnd : program::Kernel::kScalars);
      sink.put = [cells](kir::Builder& k, const plan::Place&, const Values& values) {
        for (size_t n = 0; n < values.size(); n++) cells.store(k, n, values[n]);
      };
      return sink;
    }
    Values bases;
    for (const BlockReg array : targets.arrays) bases.push_back(t.args.block(array));
    sink.put = [bases, length, scans](kir::Builder& k, const plan::Place& at,
                                      const Values& values) {
      Value index = at.segment;
      if (scans) index = k.add(k.mul(at.segment, length), at.position);
      for (size_t n = 0; n < bases.size(); n++) k.store(bases[n], index, values[n]);
    };
    if (scans) sink.bases = bases;
    sink.put_many = [bases, length, scans](kir::Builder& k, const plan::Place& first,
                                           const std::vector<Values>& all) {
      const Value index =
          scans ? k.add(k.mul(first.segment, length), first.position) : first.segment;
      for (size_t n = 0; n < bases.size(); n++) {
        Values values;
        for (const Values& x : all) values.push_back(x[n]);
        store_neighbours(k, bases[n], index, values);
      }
    };
    return sink;
  }

  /// The leading indices as the number of a bin; -1 if one is out of bounds.
  static Values in_bin(kir::Builder& k, const Values& sizes, const Values& element) {
    Value bin = kir::i64(0), inside = kir::boolean(true);
    for (size_t d = 0; d < sizes.size(); d++) {
      const Value& i = element[d];
      inside = k.and_(inside, k.and_(k.le(kir::i64(0), i), k.lt(i, sizes[d])));
      bin = k.add(k.mul(bin, sizes[d]), i);
    }
    Values out = {k.select(inside, bin, kir::i64(-1))};
    out.insert(out.end(), element.begin() + static_cast<std::ptrdiff_t>(sizes.size()),
               element.end());
    return out;
  }

  HostArrays& host_;
  const ir::Program& ir_;
  const ir::Stm& s_;
  const ir::ESeg& e_;
  Operand lengths_ = PrimValue::i64(0);  // elements of a segment
  std::optional<ir::Factors> factors_;   // of a reduction
  ir::GridDims grid_;
};

}  // namespace

void collective(HostArrays& host, const ir::Stm& s, const ir::ESeg& e, const ir::Stm* behind) {
  Collective(host, s, e).reduce_or_scan(behind);
}

void histogram(HostArrays& host, const ir::Stm& s, const ir::ESeg& e) {
  Collective(host, s, e).histogram();
}

}  // namespace kenaz::host_code
