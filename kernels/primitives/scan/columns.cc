// A thread per segment, of segments that lie beside each other: neighbouring threads read what is
// side by side. Their results are not, since each lies along its segment: stored one by one, each
// would be a part of a sector of memory by itself. So threads put those of some positions into
// shared memory, and then store them together, neighbours in a segment side by side.
#include "kernels/primitives/scan/plan_functions.h"
#include "kernels/primitives/scan/tiles.h"

namespace kenaz::primitives::scan::columns {

namespace {

using plan::Place;

// Positions at a time, and threads of a workgroup.
constexpr int kSteps = 16, kThreads = 128;
// Of a thread in shared memory: with one more, threads that store meet few banks twice.
constexpr int kStride = kSteps + 1;

class Columns {
 public:
  explicit Columns(Team& t)
      : t_(t),
        k_(t.k),
        first_(k_.mul(k_.group(), t.group_size_i64())),
        segments_(t.host(t.facts.segments)),
        length_(t.host(t.facts.length)),
        acc_(k_.declare(t.problem.op.neutral)) {
    std::vector<PrimType> types = t.facts.op.types;
    types.insert(types.end(), t.facts.carried.begin(), t.facts.carried.end());
    for (const PrimType type : types) kept_.push_back(t.shared_per_thread("kept", type, kStride));
  }

  void run() {
    k_.for_(
        kir::i64(0), length_, kir::i64(kSteps),
        [&](const Value& from) {
          scan(from);
          k_.barrier();
          store(from);
          k_.barrier();
        },
        true);
  }

 private:
  // Beyond the ends the last segment and the last position are taken once more: that needs no
  // conditions, and all loads are on their way before the first value is needed.
  void scan(const Value& from) {
    const Value segment = k_.min(k_.add(first_, k_.to_i64(k_.local())), k_.sub(segments_, 1));
    const Value last = k_.sub(length_, 1);
    std::vector<Values> elements;
    for (int j = 0; j < kSteps; j++) {
      elements.push_back(t_.problem.elements.at(k_, {segment, k_.min(k_.add(from, j), last)}));
    }
    for (int j = 0; j < kSteps; j++) {
      const Values& x = elements[static_cast<size_t>(j)];
      const auto carried = x.begin() + static_cast<std::ptrdiff_t>(t_.facts.op.types.size());
      Values out = t_.problem.op.combine(k_, k_.read(acc_), Values(x.begin(), carried));
      k_.assign(acc_, out);
      out.insert(out.end(), carried, x.end());
      const Value slot = k_.add(k_.mul(k_.local(), kStride), j);
      for (size_t n = 0; n < kept_.size(); n++) k_.store(kept_[n], slot, out[n]);
    }
  }

  void store(const Value& from) {
    for (int n = 0; n < kSteps; n++) {
      const Value number = k_.add(k_.local(), k_.mul(t_.group_size(), n));
      const Value row = k_.quot(number, kir::i32(kSteps));
      const Value step = k_.sub(number, k_.mul(row, kSteps));
      const Place place{k_.add(first_, k_.to_i64(row)), k_.add(from, k_.to_i64(step))};
      const Value exists = k_.and_(k_.lt(place.segment, segments_), k_.lt(place.position, length_));
      k_.if_(exists, [&] {
        const Value slot = k_.add(k_.mul(row, kStride), step);
        Values out;
        for (const kir::SharedId kept : kept_) out.push_back(k_.load(kept, slot));
        t_.problem.sink.put(k_, place, out);
      });
    }
  }

  Team& t_;
  Builder& k_;
  Value first_, segments_, length_;
  kir::Vars acc_;
  std::vector<kir::SharedId> kept_;
};

}  // namespace

bool applies(const Facts& f, const Target& target) {
  const int bytes = kStride * (plan::bytes_of(f.op.types) + plan::bytes_of(f.carried));
  constexpr int kOther = 256;  // of arrays that are aligned, and what the text adds
  return f.across && !f.segments.is(1) && !f.slow && !f.fails &&
         bytes * plan::group_size_for(f, target, kThreads) + kOther <= target.shared_bytes;
}

HostExpr when(const Facts& f, const Target& target) {
  // On CPUs barriers take longer than what is stored.
  if (target.threads < 1 << 14) return HostExpr::boolean(false);
  const HostExpr fits = and_(le(kSteps, f.length), le(f.length, plan::turn_budget(target)));
  return and_(le(target.threads / 4, f.segments), fits);
}

plan::Work make(const Facts& f, const Target& target, const plan::Bind& bind) {
  plan::Maker m(f, target, bind, kThreads);
  m.step("_columns", div_up(f.segments, m.group_size()), [&](Team& t) { Columns(t).run(); });
  return m.take();
}

}  // namespace kenaz::primitives::scan::columns
