// Streams: scatter_stream and hist_stream, whose function writes to an accumulator as often as it
// likes, in any branch or loop.
//
// There is no accumulator in array IR. The function becomes one that returns what it writes, and a
// scatter or a histogram of that follows; so all that is known of these (plans, atomics, fusion,
// derivatives) holds for streams. How, depends on the number of writes per element:
//
// * At most a few, as can be told from the text: a result per write, and a scatter or histogram for
//   each of them, in order (kSlots).
// * More, or a number that loops decide: the function runs twice, first to count its writes, then
//   to log them in arrays of as many elements as the most that one element needs (kCount, kLog).
// * The same inside of a map: one element after the other, in place (kInPlace).
//
// The order of writes within an element is kept. Between elements it is unspecified.
#include <algorithm>

#include "kernels/futhark/lower/lowerer.h"
#include "kernels/ir/builder.h"

namespace kenaz::lower {

using ir::Atom;

namespace {

constexpr int kMostSlots = 8;

const core::EIntrinsic kMaximum{core::Intrinsic::kMax, {}, {}};

V maximum() {
  VFun f;
  f.intrinsic = &kMaximum;
  f.arity = 2;
  return make(std::move(f));
}

V pair(V first, V second) {
  VRec r;
  r.fields = {{"0", std::move(first)}, {"1", std::move(second)}};
  return make(std::move(r));
}

}  // namespace

V Lowerer::scatter_stream(const std::vector<V>& args) {
  return stream(Stream{}, args[0], args[1], args[2]);
}

V Lowerer::hist_stream(const std::vector<V>& args) {
  Stream s;
  s.op = args[1];
  s.neutral = args[2];
  return stream(std::move(s), args[0], args[3], args[4]);
}

V Lowerer::stream(Stream s, const V& dest, const V& fun, const V& array) {
  if (failed()) return unit();
  if (!has_leaves(as_array(dest).elem)) return dest;
  s.id = next_stream_++;
  const std::optional<int> most = count_writes(s, dest, fun, array);
  if (failed()) return unit();
  if (most == 0) return dest;
  if (most && *most <= kMostSlots) return stream_by_slots(s, *most, dest, fun, array);
  if (per_element_ > 0) return stream_in_place(s, dest, fun, array);
  const Atom size = most ? ir::i64(*most) : largest_log(s, dest, fun, array);
  return stream_by_log(s, size, dest, fun, array);
}

/// What the function makes of an accumulator in this state: a VAcc, or an error.
V Lowerer::run_stream(Stream& s, const V& dest, V state, const V& fun, const V& row) {
  if (failed()) return unit();
  streams_.push_back(s);
  const V result = apply(fun, {make(VAcc{s.id, dest, std::move(state)}), row});
  s = streams_.back();
  streams_.pop_back();
  if (failed()) return unit();
  const auto* acc = std::get_if<VAcc>(&result->node);
  if (acc == nullptr || acc->stream != s.id) {
    return fail("a stream's function must return the accumulator that it gets, not another one");
  }
  return result;
}

/// The most writes that one element makes, or nothing if loops decide. Lowers the function for this
/// only, and drops the code.
std::optional<int> Lowerer::count_writes(Stream s, const V& dest, const V& fun, const V& array) {
  s.mode = StreamMode::kBound;
  ir::Lambda lambda;
  std::vector<ir::VarId> inputs;
  const PerElement here(per_element_);
  b_.open();
  const V row = lambda_row(array, lambda, inputs);
  const V acc = run_stream(s, dest, unit(), fun, row);
  b_.close();
  if (failed()) return 0;
  return s.unbounded ? std::nullopt : std::optional(std::get<VAcc>(acc->node).writes);
}

/// A map of the stream's function. `begin` makes the first state, inside of the lambda; `end` makes
/// of the last one what is to be returned.
V Lowerer::map_stream(Stream& s, const V& dest, const V& fun, const V& array,
                      const std::function<V()>& begin, const std::function<V(const V&)>& end) {
  ir::ESoac soac;
  soac.width = as_array(array).dim;
  V tmpl;
  {
    const PerElement here(per_element_);
    b_.open();
    const V row = lambda_row(array, soac.map, soac.inputs);
    const V acc = run_stream(s, dest, begin(), fun, row);
    const V result = failed() ? unit() : end(std::get<VAcc>(acc->node).state);
    tmpl = close_lambda(result, soac.map, soac.width, nullptr, "a stream's function");
  }
  if (failed()) return unit();
  std::vector<ir::VarId> vars;
  const Atom width = soac.width;
  V out = result_arrays(width, tmpl, vars);
  b_.emit(std::move(vars), std::move(soac));
  return out;
}

/// `size` copies of an element that is all zeros; none: one element.
V Lowerer::blank(const V& dest, const std::optional<Atom>& size) {
  return map_leaves(as_array(dest).elem, [&](const Atom& a) -> Atom {
    ir::Type t = b_.type_of(a);
    t.dims.erase(t.dims.begin());
    if (size) t.dims.insert(t.dims.begin(), *size);
    const Atom zero = PrimValue{t.prim, 0};
    return t.dims.empty() ? zero : b_.let(t, ir::EReplicate{t.dims, zero}, "blank");
  });
}

V Lowerer::combine(const Stream& s, const V& dest, const V& places, const V& values) {
  if (s.op == nullptr) return scatter(dest, places, values, 1);
  return hist(dest, s.op, s.neutral, places, values, 1);
}

V Lowerer::stream_by_slots(Stream s, int count, const V& dest, const V& fun, const V& array) {
  s.mode = StreamMode::kSlots;
  const auto begin = [&] {
    VRec slots;
    for (int k = 0; k < count; ++k) {
      slots.fields.emplace_back(std::to_string(k), pair(leaf(ir::i64(-1)), blank(dest, {})));
    }
    return make(std::move(slots));
  };
  const V written = map_stream(s, dest, fun, array, begin, [](const V& state) { return state; });
  V out = dest;
  for (int k = 0; k < count && !failed(); ++k) {
    const VArr& slots = as_array(written);
    const V slot = project(slots.elem, std::to_string(k));
    out = combine(s, out, make(VArr{slots.dim, project(slot, "0")}),
                  make(VArr{slots.dim, project(slot, "1")}));
  }
  return failed() ? unit() : out;
}

/// How many writes the element makes that makes the most.
Atom Lowerer::largest_log(Stream s, const V& dest, const V& fun, const V& array) {
  s.mode = StreamMode::kCount;
  const V counts = map_stream(
      s, dest, fun, array, [] { return leaf(ir::i64(0)); }, [](const V& state) { return state; });
  if (failed()) return ir::i64(0);
  return as_atom(reduce(maximum(), leaf(ir::i64(0)), counts, true, false));
}

V Lowerer::stream_by_log(Stream s, const Atom& size, const V& dest, const V& fun, const V& array) {
  s.mode = StreamMode::kLog;
  const auto begin = [&] {
    const ir::Type type{PrimType::kI64, {size}};
    const Atom places = b_.let(type, ir::EReplicate{{size}, ir::i64(-1)}, "places");
    VRec log;
    log.fields = {{"count", leaf(ir::i64(0))},
                  {"places", make(VArr{size, leaf(places)})},
                  {"values", make(VArr{size, blank(dest, size)})}};
    return make(std::move(log));
  };
  const auto end = [&](const V& state) {
    return pair(project(state, "places"), project(state, "values"));
  };
  const V logs = map_stream(s, dest, fun, array, begin, end);
  if (failed()) return unit();
  const VArr& log = as_array(logs);
  V places = flatten(make(VArr{log.dim, project(log.elem, "0")}));
  const V values = flatten(make(VArr{log.dim, project(log.elem, "1")}));
  if (s.op == nullptr) places = last_writes(dest, places);
  return failed() ? unit() : combine(s, dest, places, values);
}

/// The places without those that are written again later in the log, which a scatter would do at
/// the same time: -1 instead.
V Lowerer::last_writes(const V& dest, const V& places) {
  const Atom size = as_array(dest).dim, total = as_array(places).dim;
  if (failed()) return unit();
  const ir::Type type{PrimType::kI64, {total}};
  const Atom order =
      b_.let(type, ir::EIota{total, ir::i64(0), ir::i64(1), PrimType::kI64}, "order");
  const V none = leaf(ir::i64(-1));
  const V last =
      hist(replicate(size, none), maximum(), none, places, make(VArr{total, leaf(order)}), 1);
  if (failed()) return unit();
  ir::ESoac soac;
  soac.width = total;
  soac.map = identity_lambda({as_atom(as_array(places).elem), order}, soac.inputs);
  b_.open();
  const Atom place = soac.map.params[0], when = soac.map.params[1];
  const Atom inside = b_.both(b_.le(ir::i64(0), place), b_.lt(place, size));
  const V kept = branch(
      inside,
      [&] {
        const Atom is_last = b_.eq(as_atom(row(last, place)), when);
        return leaf(b_.select(PrimType::kI64, is_last, place, ir::i64(-1)));
      },
      [&] { return none; }, nullptr);
  soac.map.body.stms = b_.close();
  if (failed()) return unit();
  soac.map.body.results = {as_atom(kept)};
  soac.map.ret = {{PrimType::kI64, {}}};
  const ir::VarId out = b_.var(type, "places");
  b_.emit({out}, std::move(soac));
  return make(VArr{total, leaf(out)});
}

V Lowerer::stream_in_place(Stream s, const V& dest, const V& fun, const V& array) {
  s.mode = StreamMode::kInPlace;
  ir::ELoop loop;
  std::vector<ir::VarId> finals;
  const V out = map_leaves(dest, [&](const Atom& a) -> Atom {
    loop.params.push_back({ir::VarId{}, a});
    finals.push_back(b_.var(b_.type_of(a), "streamed"));
    return finals.back();
  });
  b_.open();
  const ir::VarId i = b_.var({PrimType::kI64, {}}, "i");
  loop.form = ir::LoopFor{i, as_array(array).dim};
  size_t k = 0;
  const V state = map_leaves(dest, [&](const Atom& a) -> Atom {
    loop.params[k].var = b_.var(b_.type_of(a), "state");
    return loop.params[k++].var;
  });
  const V acc = run_stream(s, dest, state, fun, row(array, i));
  if (!failed()) {
    const std::vector<Atom> after = data_of(std::get<VAcc>(acc->node).state);
    for (k = 0; k < after.size(); ++k) {
      loop.body.results.push_back(reshape(after[k], b_.type_of(finals[k]).dims, {}));
    }
  }
  loop.body.stms = b_.close();
  if (failed()) return unit();
  b_.emit(std::move(finals), std::move(loop));
  return out;
}

V Lowerer::acc_write(const V& accumulator, const V& place, const V& value) {
  if (failed()) return unit();
  const auto* acc = std::get_if<VAcc>(&accumulator->node);
  const auto stream = std::find_if(streams_.begin(), streams_.end(), [&](const Stream& s) {
    return acc != nullptr && s.id == acc->stream;
  });
  if (stream == streams_.end()) {
    return fail("an accumulator exists only in the function of the stream that it belongs to");
  }
  // In the destination's structure, with the sizes of its elements.
  const std::vector<Atom> data = data_of(materialise(value));
  size_t k = 0;
  const V row = map_leaves(as_array(acc->shape).elem, [&](const Atom& a) -> Atom {
    if (k >= data.size()) {
      broken("a write of another structure");
      return a;
    }
    const std::vector<Atom> dims = b_.type_of(a).dims;
    return reshape(data[k++], {dims.begin() + 1, dims.end()}, {});
  });
  if (failed()) return unit();
  VAcc out = *acc;
  switch (stream->mode) {
    case StreamMode::kBound: ++out.writes; break;
    case StreamMode::kSlots: {
      VRec slots = as_record(acc->state);
      slots.fields[static_cast<size_t>(out.writes++)].second = pair(place, row);
      out.state = make(std::move(slots));
      break;
    }
    case StreamMode::kCount: out.state = leaf(b_.add(as_atom(acc->state), ir::i64(1))); break;
    case StreamMode::kLog: out.state = log_write(acc->state, place, row); break;
    case StreamMode::kInPlace:
      out.state =
          combine(*stream, acc->state, replicate(ir::i64(1), place), replicate(ir::i64(1), row));
      break;
  }
  return make(std::move(out));
}

V Lowerer::log_write(const V& log, const V& place, const V& row) {
  const Atom count = as_atom(project(log, "count"));
  const auto put = [&](const Atom& array, const Atom& value) -> Atom {
    const ir::Type t = b_.type_of(array);
    ir::EUpdate u{array_var(array), ir::row_dims(t, {count}), value};
    return b_.let(t, std::move(u), "log");
  };
  const std::vector<Atom> data = data_of(row);
  size_t k = 0;
  VRec out = as_record(log);
  for (auto& [name, part] : out.fields) {
    if (name == "count") part = leaf(b_.add(count, ir::i64(1)));
    if (name == "places") {
      part = map_leaves(part, [&](const Atom& a) { return put(a, as_atom(place)); });
    }
    if (name == "values") {
      part = map_leaves(part, [&](const Atom& a) { return put(a, data[k++]); });
    }
  }
  return make(std::move(out));
}

/// The accumulators of `a`, which are those of `b` too, after either of two branches.
V Lowerer::join_accumulators(const V& a, const V& b) {
  if (failed()) return a;
  if (const auto* x = std::get_if<VRec>(&a->node)) {
    const auto* y = std::get_if<VRec>(&b->node);
    if (y == nullptr || x->fields.size() != y->fields.size()) return a;
    VRec out = *x;
    bool same = true;
    for (size_t i = 0; i < out.fields.size(); ++i) {
      out.fields[i].second = join_accumulators(x->fields[i].second, y->fields[i].second);
      same = same && out.fields[i].second == x->fields[i].second;
    }
    return same ? a : make(std::move(out));
  }
  const auto* x = std::get_if<VAcc>(&a->node);
  const auto* y = std::get_if<VAcc>(&b->node);
  if (x == nullptr && y == nullptr) return a;
  if (x == nullptr || y == nullptr || x->stream != y->stream) {
    return fail("branches and loops must keep to one stream's accumulator");
  }
  if (x->writes >= y->writes) return a;
  VAcc out = *x;
  out.writes = y->writes;
  return make(std::move(out));
}

/// Of a loop's values before and after its body: a loop that writes does so an unknown number of
/// times.
void Lowerer::note_writes_of_loop(const V& before, const V& after) {
  if (failed()) return;
  if (const auto* x = std::get_if<VRec>(&before->node)) {
    const auto* y = std::get_if<VRec>(&after->node);
    if (y == nullptr || x->fields.size() != y->fields.size()) return;
    for (size_t i = 0; i < x->fields.size(); ++i) {
      note_writes_of_loop(x->fields[i].second, y->fields[i].second);
    }
  }
  const auto* x = std::get_if<VAcc>(&before->node);
  if (x == nullptr) return;
  const V joined = join_accumulators(after, before);
  if (failed() || std::get<VAcc>(joined->node).writes == x->writes) return;
  for (Stream& s : streams_) s.unbounded = s.unbounded || s.id == x->stream;
}

}  // namespace kenaz::lower
