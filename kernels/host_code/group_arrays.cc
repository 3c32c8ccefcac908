// Arrays of a workgroup: making, moving and updating them.
#include "kernels/host_code/group_code.h"

namespace kenaz::host_code {

using body::ArrayKind;
using body::Math;
using ir::VarId;

bool GroupCode::arrays(const ir::Stm& s) {
  const auto* same = std::get_if<ir::EReplicate>(&s.exp);
  const bool makes =
      std::holds_alternative<ir::EUpdate>(s.exp) || std::holds_alternative<ir::ECopy>(s.exp) ||
      std::holds_alternative<ir::EScratch>(s.exp) || std::holds_alternative<ir::EArrayLit>(s.exp) ||
      std::holds_alternative<ir::EConcat>(s.exp) || std::holds_alternative<ir::EReshape>(s.exp) ||
      (same != nullptr && !t_.ir().type_of(same->value).is_scalar());
  if (!makes) return false;
  t_.env.define(s);
  if (const auto* e = std::get_if<ir::EUpdate>(&s.exp)) update(s, *e);
  if (same != nullptr) replicate(s, *same);
  if (const auto* e = std::get_if<ir::EArrayLit>(&s.exp)) literal(s, *e);
  if (const auto* e = std::get_if<ir::EConcat>(&s.exp)) concat(s, *e);
  if (const auto* e = std::get_if<ir::EReshape>(&s.exp)) reshape(s, *e);
  if (std::holds_alternative<ir::EScratch>(s.exp)) t_.env.bind(s.pat[0], new_array(s.pat[0]));
  if (const auto* e = std::get_if<ir::ECopy>(&s.exp)) {
    const Array to = new_array(s.pat[0]);
    move(t_.env.array(e->array), to);
    t_.env.bind(s.pat[0], to);
  }
  return true;
}

body::KernelArray GroupCode::new_array(VarId v) {
  const ir::Type& type = t_.ir().type_of(v);
  return memory_.allocate(t_, type.prim, type.dims);
}

body::KernelArray GroupCode::in_memory(const Array& a, VarId type_of) {
  if (a.kind == ArrayKind::kMemory) return a;
  const Array to = new_array(type_of);
  move(a, to);
  return to;
}

void GroupCode::copy(const Array& from, const Array& to) {
  if (host_.failed()) return;
  points(to.layout.dims, [&](const Values& at) { body::copy_element(t_, from, to, at); });
}

void GroupCode::move(const Array& from, const Array& to) {
  before_write();
  copy(from, to);
  after_write();
}

void GroupCode::put(const Result& v, const Array& to) {
  if (const auto* a = std::get_if<Array>(&v)) {
    copy(*a, to);
  } else {
    by_one([&] { body::place(t_, v, to); });
  }
}

void GroupCode::update(const ir::Stm& s, const ir::EUpdate& e) {
  const Array a = in_memory(t_.env.array(e.array), s.pat[0]);
  Result value = t_.env.value(e.value);
  const Array to = body::sliced(t_, a, body::slice_dims(t_, e.dims));
  const auto* from = std::get_if<Array>(&value);
  if (from != nullptr && from->kind == ArrayKind::kMemory &&
      (from->memory == a.memory || from->memory == body::kUnknownMemory)) {
    // Threads would read what others have written by then.
    const Array aside = new_array(e.value.var());
    move(*from, aside);
    value = aside;
  }
  before_write();
  put(value, to);
  after_write();
  t_.env.bind(s.pat[0], a);
}

void GroupCode::replicate(const ir::Stm& s, const ir::EReplicate& e) {
  const Array from = t_.env.array(e.value.var()), to = new_array(s.pat[0]);
  if (host_.failed()) return;
  const auto outer = static_cast<std::ptrdiff_t>(e.dims.size());
  before_write();
  points(to.layout.dims, [&](const Values& at) {
    Math math{t_.k};
    body::store(t_, to, body::LayoutMath(math).element(to.layout, at),
                body::element(t_, from, Values(at.begin() + outer, at.end())));
  });
  after_write();
  t_.env.bind(s.pat[0], to);
}

void GroupCode::literal(const ir::Stm& s, const ir::EArrayLit& e) {
  const Array to = new_array(s.pat[0]);
  if (host_.failed()) return;
  before_write();
  for (size_t k = 0; k < e.elems.size(); k++) {
    put(t_.env.value(e.elems[k]), body::row_place(t_, to, kir::i64(static_cast<int64_t>(k))));
  }
  after_write();
  t_.env.bind(s.pat[0], to);
}

void GroupCode::concat(const ir::Stm& s, const ir::EConcat& e) {
  const Array to = new_array(s.pat[0]);
  if (host_.failed()) return;
  before_write();
  Value start = kir::i64(0);
  for (const VarId v : e.arrays) {
    const Array part = t_.env.array(v);
    copy(part, body::rows_place(t_, to, start, part.layout.dims[0]));
    start = t_.k.add(start, part.layout.dims[0]);
  }
  after_write();
  t_.env.bind(s.pat[0], to);
}

// Elements that are not dense are moved; threads would each make a copy of their own.
void GroupCode::reshape(const ir::Stm& s, const ir::EReshape& e) {
  Array a = t_.env.array(e.array);
  const Values dims = t_.env.scalars(e.dims);
  if (a.kind == ArrayKind::kReplicate || (a.kind == ArrayKind::kIota && dims.size() == 1)) {
    a.layout.dims = dims;
    t_.env.bind(s.pat[0], a);
    return;
  }
  if (a.kind != ArrayKind::kMemory || !a.layout.dense) {
    const Array to = new_array(s.pat[0]);  // of as many elements, in the same order
    Array as_before = to;
    as_before.layout.dims = a.layout.dims;
    move(a, as_before);
    a = to;
  }
  if (host_.failed()) return;
  Math math{t_.k};
  a.layout = *body::LayoutMath(math).reshape(a.layout, dims);
  t_.env.bind(s.pat[0], a);
}

}  // namespace kenaz::host_code
