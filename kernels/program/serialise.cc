#include "kernels/program/serialise.h"

#include <cstring>
#include <type_traits>

// One function per struct names its fields, for both directions: `A` is Writer (fields const) or
// Reader. Integers are little endian, as on every machine that Kenaz runs on.
namespace kenaz::program {

namespace {

constexpr int kMaxNesting = 500;

template <class T>
inline constexpr uint64_t kEnumCount = 0;
template <>
inline constexpr uint64_t kEnumCount<PrimType> = kPrimTypeCount;
template <>
inline constexpr uint64_t kEnumCount<TypeKind> = 5;
template <>
inline constexpr uint64_t kEnumCount<TuningClass> = 3;
template <>
inline constexpr uint64_t kEnumCount<OpAlloc::Use> = 3;
template <>
inline constexpr uint64_t kEnumCount<Arg::Kind> = 2;
template <>
inline constexpr uint64_t kEnumCount<Kernel::Tells> = 3;
template <>
inline constexpr uint64_t kEnumCount<Arg::Access> = 4;
template <>
inline constexpr uint64_t kEnumCount<ScalarOp> = 0
#define SCALAR_OP(e, name, arity, domain, result) +1
#include "kernels/scalar/ops.def"
#undef SCALAR_OP
    ;

class Writer {
 public:
  template <class... T>
  void operator()(const T&... fields) {
    (put(fields), ...);
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  template <class T>
  void put(const T& v);
  void raw(const void* data, size_t n) {
    const auto* p = static_cast<const std::byte*>(data);
    bytes_.insert(bytes_.end(), p, p + n);
  }
  template <class T>
  void put(const std::vector<T>& v) {
    put(static_cast<uint64_t>(v.size()));
    if constexpr (std::is_arithmetic_v<T>) {
      raw(v.data(), v.size() * sizeof(T));
    } else {
      for (const T& x : v) put(x);
    }
  }
  void put(const std::string& s) {
    put(static_cast<uint64_t>(s.size()));
    raw(s.data(), s.size());
  }
  template <class T>
  void put(const std::map<std::string, T>& m) {
    put(static_cast<uint64_t>(m.size()));
    for (const auto& [key, value] : m) (*this)(key, value);
  }
  template <class... T>
  void put(const std::variant<T...>& v) {
    put(static_cast<uint8_t>(v.index()));
    std::visit([&](const auto& x) { put(x); }, v);
  }

  std::vector<std::byte> bytes_;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}
  template <class... T>
  void operator()(T&... fields) {
    (get(fields), ...);
  }
  bool ok() const { return ok_; }
  bool at_end() const { return rest_.empty(); }

 private:
  template <class T>
  void get(T& v);
  void raw(void* data, size_t n) {
    if (!ok_ || n > rest_.size()) {
      ok_ = false;
      std::memset(data, 0, n);
      return;
    }
    std::memcpy(data, rest_.data(), n);
    rest_ = rest_.subspan(n);
  }
  /// A number of elements, of at least `unit` bytes each, that can still follow.
  size_t count(size_t unit) {
    uint64_t n = 0;
    get(n);
    if (n > rest_.size() / unit) ok_ = false;
    return ok_ ? static_cast<size_t>(n) : 0;
  }
  template <class T>
  void get(std::vector<T>& v) {
    if constexpr (std::is_arithmetic_v<T>) {
      v.resize(count(sizeof(T)));
      if (!v.empty()) raw(v.data(), v.size() * sizeof(T));
    } else {
      const size_t n = count(1);
      for (size_t i = 0; i < n && ok_; ++i) get(v.emplace_back());
    }
  }
  void get(std::string& s) {
    s.resize(count(1));
    if (!s.empty()) raw(s.data(), s.size());
  }
  template <class T>
  void get(std::map<std::string, T>& m) {
    const size_t n = count(1);
    for (size_t i = 0; i < n && ok_; ++i) {
      std::string key;
      get(key);
      // Written in order, each key once.
      if (!m.empty() && key <= m.rbegin()->first) ok_ = false;
      get(m[key]);
    }
  }
  template <class... T>
  void get(std::variant<T...>& v) {
    uint8_t index = 0;
    get(index);
    if (index >= sizeof...(T)) ok_ = false;
    if (!ok_) return;
    [&]<size_t... i>(std::index_sequence<i...>) {
      ((index == i ? get(v.template emplace<i>()) : void()), ...);
    }
    (std::index_sequence_for<T...>());
  }

  std::span<const std::byte> rest_;
  bool ok_ = true;
  int depth_ = 0;
};

// fields(archive, struct): in the order of the struct.
template <class A, class Tag>
void fields(A& a, Id<Tag>& x) {
  a(x.index);
}
template <class A>
void fields(A& a, PrimValue& x) {
  a(x.type, x.bits);
}
template <class A>
void fields(A& a, OpScalar& x) {
  a(x.dst, x.op, x.type, x.to, x.args);
}
template <class A>
void fields(A& a, OpMove& x) {
  a(x.dst, x.src);
}
template <class A>
void fields(A& a, OpAlloc& x) {
  a(x.dst, x.bytes, x.use, x.number);
}
template <class A>
void fields(A& a, OpMoveBlock& x) {
  a(x.dst, x.src);
}
template <class A>
void fields(A& a, OpPart& x) {
  a(x.dst, x.src, x.offset, x.bytes);
}
template <class A>
void fields(A& a, OpRelease& x) {
  a(x.block);
}
template <class A>
void fields(A& a, Arg& x) {
  a(x.kind, x.access, x.scalar, x.block);
}
template <class A>
void fields(A& a, OpLaunch& x) {
  a(x.kernel, x.groups, x.args);
}
template <class A>
void fields(A& a, OpRead& x) {
  a(x.dst, x.type, x.block, x.offset);
}
template <class A>
void fields(A& a, OpWrite& x) {
  a(x.type, x.block, x.offset, x.values);
}
template <class A>
void fields(A& a, OpIf& x) {
  a(x.cond, x.then_code, x.else_code);
}
template <class A>
void fields(A& a, OpWhile& x) {
  a(x.head, x.cond, x.body);
}
template <class A>
void fields(A& a, OpTune& x) {
  a(x.dst, x.param);
}
template <class A>
void fields(A& a, OpCompare& x) {
  a(x.dst, x.param, x.size);
}
template <class A>
void fields(A& a, OpAssert& x) {
  a(x.cond, x.message, x.backtrace);
}
template <class A>
void fields(A& a, OpCall& x) {
  a(x.function, x.scalars, x.blocks, x.scalar_results, x.block_results, x.too_deep, x.backtrace);
}
template <class A>
void fields(A& a, HostOp& x) {
  a(x.op);
}
template <class A>
void fields(A& a, Term& x) {
  a(x.coefficient, x.factors);
}
template <class A>
void fields(A& a, Kernel& x) {
  a(x.name, x.glsl, x.spirv, x.kir, x.places, x.workgroup_size, x.slots, x.nesting, x.may_fail,
    x.tells, x.small_bytes, x.place, x.code_of, x.skips_look, x.says_end, x.turns);
}
template <class A>
void fields(A& a, KernelFailure& x) {
  a(x.message, x.arg_types, x.backtrace);
}
template <class A>
void fields(A& a, ScalarLeaf& x) {
  a(x.type, x.value);
}
template <class A>
void fields(A& a, ArrayLeaf& x) {
  a(x.elem, x.block, x.dims);
}
template <class A>
void fields(A& a, Entry::Param& x) {
  a(x.name, x.type, x.consumed, x.leaves);
}
template <class A>
void fields(A& a, Entry& x) {
  a(x.name, x.params, x.result_type, x.result_unique, x.result, x.attrs, x.doc, x.tuning, x.code,
    x.scalar_regs, x.block_regs);
}
template <class A>
void fields(A& a, Function& x) {
  a(x.name, x.scalars, x.blocks, x.scalar_results, x.block_results, x.code, x.scalar_regs,
    x.block_regs);
}
template <class A>
void fields(A& a, LeafType& x) {
  a(x.prim, x.rank, x.dim);
}
template <class A>
void fields(A& a, ValueType::Field& x) {
  a(x.name, x.type);
}
template <class A>
void fields(A& a, ValueType::Variant& x) {
  a(x.name, x.payload, x.payload_leaves);
}
template <class A>
void fields(A& a, ValueType& x) {
  a(x.name, x.kind, x.leaves, x.rank, x.elemtype, x.fields, x.variants);
}
template <class A>
void fields(A& a, Target& x) {
  a(x.subgroup_size, x.subgroup_arithmetic, x.fixed_subgroups, x.max_group_size, x.shared_bytes,
    x.threads, x.cache_bytes, x.f16, x.f64, x.i64_atomics, x.shared_i64_atomics, x.f32_atomic_add,
    x.f64_atomic_add, x.shared_f32_atomic_add, x.shared_f64_atomic_add, x.forward_progress,
    x.starts_in_order, x.max_turns, x.contracts_floats, x.reads_ahead, x.interprets);
}
template <class A>
void fields(A& a, TuningParam& x) {
  a(x.name, x.cls, x.fallback);
}
template <class A>
void fields(A& a, Program& x) {
  a(x.name, x.target, x.types, x.entries, x.kernels, x.kernel_failures, x.constants,
    x.constant_scalar_regs, x.constant_block_regs, x.functions, x.tuning);
}

template <class T>
void Writer::put(const T& v) {
  if constexpr (std::is_enum_v<T>) {
    put(static_cast<uint8_t>(v));
  } else if constexpr (std::is_arithmetic_v<T>) {
    raw(&v, sizeof v);
  } else {
    fields(*this, const_cast<T&>(v));  // Writer changes nothing
  }
}

template <class T>
void Reader::get(T& v) {
  if constexpr (std::is_same_v<T, bool>) {
    uint8_t byte = 0;
    raw(&byte, 1);
    if (byte > 1) ok_ = false;
    v = byte != 0;
  } else if constexpr (std::is_enum_v<T>) {
    static_assert(kEnumCount<T> > 0);
    uint8_t byte = 0;
    raw(&byte, 1);
    if (byte >= kEnumCount<T>) ok_ = false;
    v = static_cast<T>(ok_ ? byte : 0);
  } else if constexpr (std::is_arithmetic_v<T>) {
    raw(&v, sizeof v);
  } else {
    constexpr bool nests = std::is_same_v<T, HostOp>;
    if (nests && ++depth_ > kMaxNesting) ok_ = false;
    if (ok_) fields(*this, v);
    if (nests) --depth_;
  }
}

}  // namespace

std::vector<std::byte> serialise(const Program& program) {
  Writer writer;
  writer(kFormatVersion, program);
  return writer.take();
}

Result<Program> deserialise(std::span<const std::byte> bytes) {
  Reader reader(bytes);
  uint32_t version = 0;
  reader(version);
  if (version != kFormatVersion) return internal_error("a program in another format");
  Program program;
  reader(program);
  if (!reader.ok() || !reader.at_end()) return internal_error("a damaged program");
  return program;
}

}  // namespace kenaz::program
