#include "kernels/primitives/scan/scan.h"

namespace kenaz::primitives {

using kir::Builder;
using kir::Value;
using kir::Values;

namespace {

/// Makes each thread's values the combination of those of all threads up to it.
void scan_workgroup(Builder& k, const Monoids& m, const SharedValues& values) {
  const kir::Var step = k.declare(kir::i32(1));
  const auto cond = [&] { return k.lt(k.read(step), kScanWorkgroup); };
  const auto iteration = [&] {
    const Value s = k.read(step), lid = k.local();
    k.barrier();
    const Values before = k.if_values(
        k.le(s, lid), [&] { return values.load(k, k.sub(lid, s)); },
        [&] {
          Values none;
          for (PrimType t : m.types()) none.emplace_back(PrimValue{t, 0});
          return none;
        });
    k.barrier();
    k.if_(k.le(s, lid), [&] { values.store(k, lid, m.combine(k, before, values.load(k, lid))); });
    k.assign(step, k.mul(s, 2));
  };
  k.while_(cond, iteration, true);
  k.barrier();
}

kir::Address total(Builder& k, const ScanSpec& spec, size_t n, const Value& tile) {
  const auto width = static_cast<int64_t>(spec.monoids.size());
  const Value at = k.add(k.mul(tile, width), static_cast<int64_t>(n));
  return word(k, spec.totals, at, spec.monoids.types()[n]);
}

Values load_totals(Builder& k, const ScanSpec& spec, const Value& tile) {
  Values out;
  for (size_t n = 0; n < spec.monoids.size(); n++) {
    out.push_back(k.load({spec.monoids.types()[n], 1}, total(k, spec, n, tile)));
  }
  return out;
}
void store_totals(Builder& k, const ScanSpec& spec, const Value& tile, const Values& values) {
  for (size_t n = 0; n < values.size(); n++) k.store(total(k, spec, n, tile), values[n]);
}

Values load_out(Builder& k, const ScanSpec& spec, const Value& i) {
  Values out;
  for (size_t n = 0; n < spec.out.size(); n++) {
    out.push_back(k.load(spec.monoids.types()[n], spec.out[n], i));
  }
  return out;
}
void store_out(Builder& k, const ScanSpec& spec, const Value& i, const Values& values) {
  for (size_t n = 0; n < values.size(); n++) k.store(spec.out[n], i, values[n]);
}

/// The elements of this thread's that `before` stands before.
void add_before(Builder& k, const ScanSpec& spec, const Values& before, const Value& i) {
  store_out(k, spec, i, spec.monoids.combine(k, before, load_out(k, spec, i)));
}

}  // namespace

void build_scan_tiles(Builder& k, const ScanSpec& spec, kir::FunctionId elem) {
  const Monoids& m = spec.monoids;
  const SharedValues values(k, m, kScanWorkgroup);
  const Value lid = k.local();
  const Value first = k.add(k.mul(k.group(), kScanTile), k.mul(k.to_i64(lid), kScanPerThread));
  const Value length = kir::i64(kScanPerThread);
  // A thread's own elements are scanned on the way to the result, then combined with what stands
  // before the thread.
  const kir::Vars acc = k.declare(m.neutral());
  for_share(k, first, length, spec.width, [&](const Value& i) {
    const Values x = k.call(elem, {i});
    const Values so_far = k.if_values(
        k.eq(i, first), [&] { return x; }, [&] { return m.combine(k, k.read(acc), x); });
    k.assign(acc, so_far);
    store_out(k, spec, i, so_far);
  });
  values.store(k, lid, k.read(acc));
  scan_workgroup(k, m, values);
  k.if_(k.eq(lid, kScanWorkgroup - 1),
        [&] { store_totals(k, spec, k.group(), values.load(k, lid)); });
  k.if_(k.lt(kir::i32(0), lid), [&] {
    const Values before = values.load(k, k.sub(lid, 1));
    for_share(k, first, length, spec.width,
              [&](const Value& i) { add_before(k, spec, before, i); });
  });
}

void build_scan_totals(Builder& k, const ScanSpec& spec) {
  const Monoids& m = spec.monoids;
  const SharedValues values(k, m, kScanWorkgroup);
  const Value lid = k.local();
  const Value tiles = k.div_up(spec.width, kir::i64(kScanTile));
  const Value share = k.div_up(tiles, kir::i64(kScanWorkgroup));
  const Value first = k.mul(k.to_i64(lid), share);
  const kir::Vars acc = k.declare(m.neutral());
  for_share(k, first, share, tiles, [&](const Value& g) {
    k.assign(acc, m.combine(k, k.read(acc), load_totals(k, spec, g)));
  });
  values.store(k, lid, k.read(acc));
  scan_workgroup(k, m, values);
  const kir::Vars run = k.declare(m.neutral());
  k.if_(k.lt(kir::i32(0), lid), [&] { k.assign(run, values.load(k, k.sub(lid, 1))); });
  for_share(k, first, share, tiles, [&](const Value& g) {
    k.assign(run, m.combine(k, k.read(run), load_totals(k, spec, g)));
    store_totals(k, spec, g, k.read(run));
  });
}

void build_scan_add(Builder& k, const ScanSpec& spec) {
  k.if_(k.lt(kir::i64(0), k.group()), [&] {
    const Values before = load_totals(k, spec, k.sub(k.group(), 1));
    const Value first = k.add(k.mul(k.group(), kScanTile), k.to_i64(k.local()));
    const auto iteration = [&](const Value& n) {
      const Value i = k.add(first, k.mul(n, kScanWorkgroup));
      k.if_(k.lt(i, spec.width), [&] { add_before(k, spec, before, i); });
    };
    k.for_(kir::i64(kScanPerThread), iteration, true);
  });
}

}  // namespace kenaz::primitives
