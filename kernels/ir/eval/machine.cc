// Statements and control flow.
#include "kernels/ir/eval/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <utility>

#include "kernels/ir/visit.h"
#include "protocol/base/overloaded.h"

namespace kenaz::ir::eval {

Machine::Machine(Program p, Limits l) : program(std::move(p)), limits(l) {
  scalars_.resize(program.vars.size());
  arrays_.resize(program.vars.size());
  for (const auto& v : program.vars) kinds_.push_back({v.type.prim, !v.type.dims.empty()});
  if (program.stage != Stage::kMem) return;
  const Aliases aliases(program);
  visit_bodies(program, [&](const Body& b) { find_last_uses(b, aliases); });
}

bool Machine::fail(ErrorKind kind, std::string message) {
  error = Error{kind, std::move(message), {}};
  placed_ = false;
  return false;
}

/// A failure that an assertion did not foresee is given the place of the statement.
bool Machine::fail_at(const Stm& s) {
  if (!placed_ && error.kind == ErrorKind::kProgramFailure) {
    error.message += "\n\nBacktrace:\n" + program.backtrace(s.prov);
  }
  placed_ = true;
  return false;
}

bool Machine::internal(const std::string& what) {
  return fail(ErrorKind::kInternal, "reference evaluator: " + what);
}

const Array* Machine::gone(VarId v) {
  internal(fmt::format("{}_{} is used after it was consumed or freed", program.vars[v.index].name,
                       v.index));
  return nullptr;
}

bool Machine::allocate(PrimType type, const std::vector<int64_t>& shape, Array& out) {
  const auto is_negative = [](int64_t d) { return d < 0; };
  const bool negative = std::any_of(shape.begin(), shape.end(), is_negative);
  // What would have such elements, if it had any, is empty.
  if (negative && std::find(shape.begin(), shape.end(), 0) == shape.end()) {
    return fail(ErrorKind::kProgramFailure, "Error: an array has a negative size");
  }
  const int64_t bytes = (count_elements(shape) * Size(prim_size(type))).value();
  if (bytes > limits.max_bytes - *live_) {
    return fail(ErrorKind::kOutOfMemory,
                fmt::format("out of memory: an array of {}{} bytes, while {} of at most {} are in "
                            "use",
                            bytes == Size::kMaxSize ? "at least " : "", bytes, live_->load(),
                            limits.max_bytes));
  }
  std::unique_ptr<std::byte[]> data(new (std::nothrow) std::byte[static_cast<size_t>(bytes)]);
  if (!data) return fail(ErrorKind::kOutOfMemory, fmt::format("out of memory: {} bytes", bytes));
  out.buffer = std::make_shared<Buffer>(live_, bytes, std::move(data));
  out.offset = 0;
  out.shape = shape;
  if (program.stage == Stage::kMem) poison(out, type);
  if (negative) std::replace_if(out.shape.begin(), out.shape.end(), is_negative, 0);
  return true;
}

bool Machine::copy_elements(const Array& from, PrimType type, const Array& to) {
  const int size = prim_size(type);
  const int64_t bytes = (count_elements(to.shape) * Size(size)).value();
  return copy_bytes(to.buffer->data.get() + to.offset * size,
                    from.buffer->data.get() + from.offset * size, bytes);
}

bool Machine::copy_of(const Array& from, PrimType type, Array& to) {
  Array fresh;
  if (!allocate(type, from.shape, fresh) || !copy_elements(from, type, fresh)) return false;
  to = std::move(fresh);
  return true;
}

bool Machine::copy_bytes(std::byte* to, const std::byte* from, int64_t bytes) {
  for (int64_t done = 0; done < bytes; done += kBytesPerLook) {
    const int64_t n = std::min(bytes - done, kBytesPerLook);
    std::memcpy(to + done, from + done, static_cast<size_t>(n));
    if (n == kBytesPerLook && !go_on()) return false;
  }
  return true;
}

bool Machine::make_unique(Array& a, PrimType type) {
  if (a.buffer.use_count() == 1) return true;
  const Array shared = a;
  return copy_of(shared, type, a);
}

bool Machine::shape_of(const std::vector<Atom>& dims, std::vector<int64_t>& shape) {
  shape.clear();
  for (const Atom& d : dims) shape.push_back(integer(d));
  return true;
}

bool Machine::bind(VarId v, const Atom& a, bool may_move) {
  if (!is_array(v)) {
    scalars_[v.index] = bits(a);
    return true;
  }
  if (!array(a.var())) return false;
  Array& from = arrays_[a.var().index];
  if (v == a.var()) return true;
  if (may_move) {
    arrays_[v.index] = std::exchange(from, Array());
  } else {
    arrays_[v.index] = from;
  }
  return true;
}

const std::vector<char>& Machine::movable(const Body& body) {
  auto [it, is_new] = movable_.try_emplace(&body);
  if (!is_new) return it->second;
  std::vector<char>& flags = it->second;
  for (const Atom& r : body.results) {
    bool ok = !r.is_const() && std::count(body.results.begin(), body.results.end(), r) == 1;
    if (ok) {
      ok = std::any_of(body.stms.begin(), body.stms.end(), [&](const Stm& s) {
        return std::find(s.pat.begin(), s.pat.end(), r.var()) != s.pat.end();
      });
    }
    flags.push_back(ok);
  }
  return flags;
}

bool Machine::bind_results(const Body& body, std::span<const VarId> pat) {
  const std::vector<char>* may_move = nullptr;  // of arrays only
  for (size_t i = 0; i < pat.size(); i++) {
    if (!may_move && is_array(pat[i])) may_move = &movable(body);
    if (!bind(pat[i], body.results[i], may_move && (*may_move)[i] != 0)) return false;
  }
  return true;
}

bool Machine::go_on() {
  if (!interrupt) return true;
  Status status = interrupt();
  if (status) return true;
  error = std::move(status).error();
  placed_ = true;
  return false;
}

bool Machine::run(const Body& body) {
  constexpr uint32_t kBodiesPerLook = 1024;
  if (++bodies_run_ % kBodiesPerLook == 0 && !go_on()) return false;
  if (!last_uses_.empty()) {
    const auto found = last_uses_.find(&body);
    if (found != last_uses_.end()) return run_and_forget(body, found->second);
  }
  return std::all_of(body.stms.begin(), body.stms.end(), [&](const Stm& s) { return run_stm(s); });
}

bool Machine::run_stm(const Stm& s) {
  // By far the most; what visits all kinds has first to put together a closure for each.
  if (const auto* e = std::get_if<EPrim>(&s.exp)) return prim_op(*e, s);
  const bool fine = std::visit(
      Overloaded{
          [&](const EAtom& e) { return bind(s.pat[0], e.atom, false); },
          [&](const EPrim&) { return false; },  // see above
          [&](const EIndex& e) { return index(e, s); },
          [&](const EUpdate& e) { return update(e, s); },
          [&](const EIota& e) { return iota(e, s); },
          [&](const EReplicate& e) { return replicate(e, s); },
          [&](const EScratch& e) {
            std::vector<int64_t> shape;
            Array& out = arrays_[s.pat[0].index];
            if (!shape_of(e.dims, shape) || !allocate(e.type, shape, out)) return false;
            if (program.stage == Stage::kMem) return true;
            std::memset(out.buffer->data.get(), 0, static_cast<size_t>(out.buffer->bytes));
            return true;
          },
          [&](const EArrayLit& e) { return array_lit(e, s); },
          [&](const EConcat& e) { return concat(e, s); },
          [&](const ERearrange& e) { return rearrange(e, s); },
          [&](const EReshape& e) { return reshape(e, s); },
          [&](const ECopy& e) {
            const Array* a = array(e.array);
            return a && copy_to(s.pat[0], Array(*a));
          },
          [&](const EAssert& e) { return assertion(e, s); },
          [&](const EIf& e) {
            const Body& branch = bits(e.cond) != 0 ? e.then_body : e.else_body;
            return run(branch) && bind_results(branch, s.pat);
          },
          [&](const ELoop& e) { return loop(e, s); },
          [&](const ECall& e) { return call_stm(e, s); },
          [&](const ESoac& e) { return soac(e, s); },
          [&](const EScatter& e) { return scatter(e, s); },
          [&](const EHist& e) { return hist(e, s); },
          [&](const EPack& e) { return pack(e, s); },
          [&](const ESort& e) { return sort(e, s); },
          [&](const EJvp&) { return internal("a derivative that no pass has made"); },
          [&](const EVjp&) { return internal("a derivative that no pass has made"); },
          [&](const EWithVjp&) { return internal("a derivative that no pass has made"); },
          [&](const ESeg& e) { return seg(e, s); },
          [&](const EVersions& e) { return versions(e, s); },
          [&](const ETune& e) {
            scalars_[s.pat[0].index] = static_cast<uint64_t>(tune(e.id));
            return true;
          },
      },
      s.exp);
  return fine || fail_at(s);
}

bool Machine::prim_op(const EPrim& e, const Stm& s) {
  const uint64_t a = bits(e.args[0]);
  const uint64_t b = e.args.size() > 1 ? bits(e.args[1]) : 0;
  const uint64_t c = e.args.size() > 2 ? bits(e.args[2]) : 0;
  scalars_[s.pat[0].index] = scalar_fn(e.op, e.type, e.to)(a, b, c);
  return true;
}

std::string Machine::text(const Atom& a) const {
  const PrimType t = program.type_of(a).prim;
  const PrimValue v{t, bits(a)};
  if (t == PrimType::kBool) return v.as_bool() ? "true" : "false";
  if (is_float(t)) return fmt::format("{}", v.as_double());
  return prim_kind(t) == PrimKind::kSigned ? fmt::format("{}", v.as_i64())
                                           : fmt::format("{}", v.as_u64());
}

bool Machine::assertion(const EAssert& e, const Stm& s) {
  scalars_[s.pat[0].index] = 1;
  if (bits(e.cond) != 0) return true;
  std::string message = "Error: ";
  for (const auto& part : e.message) {
    message += std::visit(
        Overloaded{[](const std::string& t) { return t; }, [&](const Atom& a) { return text(a); }},
        part);
  }
  return fail(ErrorKind::kProgramFailure, message);
}

bool Machine::iterate(const ELoop& e) {
  if (!run(e.body)) return false;
  // All results are read before any param is written: they may name each other's params.
  const std::vector<char>* may_move = nullptr;  // of arrays only
  const size_t n = e.params.size();
  next_.resize(std::max(next_.size(), n));
  for (size_t i = 0; i < n; i++) {
    const Atom& r = e.body.results[i];
    if (!is_array(e.params[i].var)) {
      next_[i].bits = bits(r);
      continue;
    }
    if (!array(r.var())) return false;
    if (!may_move) may_move = &movable(e.body);
    if ((*may_move)[i]) {
      next_[i].array = std::exchange(arrays_[r.var().index], {});
    } else {
      next_[i].array = arrays_[r.var().index];
    }
  }
  put_next(n, [&](size_t i) { return e.params[i].var; });
  return true;
}

bool Machine::loop(const ELoop& e, const Stm& s) {
  for (const auto& p : e.params) {
    if (!bind(p.var, p.init, false)) return false;
  }
  if (const auto* w = std::get_if<LoopWhile>(&e.form)) {
    while (scalars_[w->cond.index] != 0) {
      if (!iterate(e)) return false;
    }
  } else {
    const auto& f = std::get<LoopFor>(e.form);
    const PrimType t = prim(f.index);
    const PrimValue bound{t, bits(f.bound)};
    const bool is_signed = prim_kind(t) == PrimKind::kSigned;
    const uint64_t count =
        is_signed ? static_cast<uint64_t>(std::max<int64_t>(bound.as_i64(), 0)) : bound.as_u64();
    for (uint64_t i = 0; i < count; i++) {
      scalars_[f.index.index] = i;
      if (!iterate(e)) return false;
    }
  }
  for (size_t i = 0; i < s.pat.size(); i++) {
    if (!bind(s.pat[i], e.params[i].var, true)) return false;
  }
  return true;
}

bool Machine::call(const Function& f, std::vector<Value>& args, std::vector<Value>& results) {
  if (args.size() != f.params.size()) return internal("wrong number of arguments");
  std::vector<char> bound(program.vars.size(), 0);
  for (const VarId p : f.params) bound[p.index] = 1;
  for (const Stm& s : program.constants.stms) {
    for (const VarId v : s.pat) bound[v.index] = 1;
  }
  for (size_t i = 0; i < args.size(); i++) {
    if (is_array(f.params[i])) {
      arrays_[f.params[i].index] = std::move(args[i].array);
      arrays_[f.params[i].index].buffer->has_places = false;
    } else {
      scalars_[f.params[i].index] = args[i].bits;
    }
  }
  args.clear();
  for (const VarId p : f.params) {
    const Type& t = program.type_of(p);
    for (size_t d = 0; d < t.dims.size(); d++) {
      const int64_t actual = arrays_[p.index].shape[d];
      const Atom& dim = t.dims[d];
      if (!dim.is_const() && !bound[dim.var().index]) {
        bound[dim.var().index] = 1;
        scalars_[dim.var().index] = static_cast<uint64_t>(actual);
      } else if (integer(dim) != actual) {
        return fail(ErrorKind::kProgramFailure, "Error: entry point arguments have invalid sizes.");
      }
    }
  }
  if (!run(f.body)) return false;
  for (size_t i = f.ret_size_vars.size(); i < f.body.results.size(); i++) {
    const Atom& r = f.body.results[i];
    Value v;
    v.type = program.type_of(r);
    if (is_array(r)) {
      const Array* a = array(r.var());
      if (!a) return false;
      v.array = *a;
    } else {
      v.bits = bits(r);
    }
    results.push_back(std::move(v));
  }
  return true;
}

// ---- the public face

Buffer::Buffer(std::shared_ptr<std::atomic<int64_t>> l, int64_t size,
               std::unique_ptr<std::byte[]> d)
    : live(std::move(l)), bytes(size), data(std::move(d)) {
  *live += bytes;
}
Buffer::~Buffer() { *live -= bytes; }

Evaluator::Evaluator(Program program, Limits limits)
    : machine_(std::make_unique<Machine>(std::move(program), limits)) {}
Evaluator::Evaluator(Evaluator&&) noexcept = default;
Evaluator& Evaluator::operator=(Evaluator&&) noexcept = default;
Evaluator::~Evaluator() = default;

Result<Evaluator> Evaluator::make(Program program, Limits limits) {
  Evaluator evaluator(std::move(program), limits);
  KENAZ_TRY(evaluator.prepare());
  return evaluator;
}

Status Evaluator::prepare() {
  if (!machine_->with_stack([&] { return machine_->run_constants(); }))
    return tl::make_unexpected(machine_->error);
  return {};
}

Result<std::vector<Value>> Evaluator::call(FunId function, std::vector<Value> args) {
  std::vector<Value> results;
  const Function& f = machine_->program.functions[function.index];
  if (machine_->needs_constants(function)) KENAZ_TRY(prepare());
  if (!machine_->with_stack([&] { return machine_->call(f, args, results); })) {
    return tl::make_unexpected(machine_->error);
  }
  return results;
}

Result<Array> Evaluator::allocate(PrimType type, std::vector<int64_t> shape) {
  Array a;
  if (!machine_->allocate(type, shape, a)) return tl::make_unexpected(machine_->error);
  return a;
}

void Evaluator::set_interrupt(std::function<Status()> interrupt) {
  machine_->interrupt = std::move(interrupt);
}

void Evaluator::set_seg_options(SegOptions options) {
  machine_->seed(options.seed);
  machine_->seg_options = std::move(options);
}

const Program& Evaluator::program() const { return machine_->program; }

}  // namespace kenaz::ir::eval
