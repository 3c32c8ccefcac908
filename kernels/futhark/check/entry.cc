// Entry points: their types by the names that the protocol knows them by.
#include <fmt/format.h>

#include <algorithm>

#include "kernels/futhark/check/entry.h"
#include "kernels/futhark/core/leaves.h"
#include "kernels/futhark/core/type_util.h"
#include "protocol/base/overloaded.h"

namespace kenaz::check {

using core::Size;
using core::TypePtr;
using core::VarId;
using syntax::TypeExp;

namespace {

constexpr int kMaxAbbreviations = 500;  // of abbreviations

// The type in a pattern's ascription, if it has one.
const TypeExp* ascribed(const syntax::Pat& p) {
  if (const auto* x = std::get_if<syntax::PatParens>(&p.node)) return ascribed(*x->inner);
  if (const auto* x = std::get_if<syntax::PatAttr>(&p.node)) return ascribed(*x->inner);
  if (const auto* x = std::get_if<syntax::PatAscript>(&p.node)) return x->type.get();
  return nullptr;
}

std::string pattern_name(const syntax::Pat& p) {
  if (const auto* x = std::get_if<syntax::PatParens>(&p.node)) return pattern_name(*x->inner);
  if (const auto* x = std::get_if<syntax::PatAttr>(&p.node)) return pattern_name(*x->inner);
  if (const auto* x = std::get_if<syntax::PatAscript>(&p.node)) return pattern_name(*x->inner);
  if (const auto* x = std::get_if<syntax::PatName>(&p.node)) return x->name;
  return "";
}

const TypeExp* strip(const TypeExp* te) {
  for (;;) {
    if (const auto* p = std::get_if<syntax::TypeParens>(&te->node)) {
      te = p->inner.get();
    } else if (const auto* u = std::get_if<syntax::TypeUnique>(&te->node)) {
      te = u->inner.get();
    } else if (const auto* x = std::get_if<syntax::TypeExists>(&te->node)) {
      te = x->inner.get();
    } else {
      return te;
    }
  }
}

bool needs_parens(const TypeExp& te) {
  return std::holds_alternative<syntax::TypeApply>(te.node) ||
         std::holds_alternative<syntax::TypeSum>(te.node) ||
         std::holds_alternative<syntax::TypeArrow>(te.node);
}

// The type as written, without sizes and size arguments.
std::string written_name(const TypeExp& source) {
  const TypeExp& te = *strip(&source);
  auto list = [](const auto& items, auto print) {
    std::string s;
    for (const auto& x : items) s += (s.empty() ? "" : ", ") + print(x);
    return s;
  };
  auto atom = [](const TypeExp& t) {
    const TypeExp& x = *strip(&t);
    std::string s = written_name(x);
    return needs_parens(x) && s.find(' ') != std::string::npos ? "(" + s + ")" : s;
  };
  return std::visit(
      Overloaded{[&](const syntax::TypeVar& v) {
                   std::string s;
                   for (const auto& q : v.name.quals) s += q + ".";
                   return s + v.name.name;
                 },
                 [&](const syntax::TypeTuple& t) {
                   return "(" + list(t.elems, [](const auto& e) { return written_name(*e); }) + ")";
                 },
                 [&](const syntax::TypeRecord& r) {
                   return "{" +
                          list(r.fields,
                               [](const auto& f) {
                                 return f.first + ": " + written_name(*f.second);
                               }) +
                          "}";
                 },
                 [&](const syntax::TypeArray& a) { return "[]" + atom(*a.elem); },
                 [&](const syntax::TypeApply& a) {
                   std::string s = written_name(*a.fun);
                   if (const auto* t = std::get_if<syntax::TypeExpPtr>(&a.arg))
                     s += " " + atom(**t);
                   return s;
                 },
                 [&](const syntax::TypeArrow& a) {
                   return written_name(*a.from) + " -> " + written_name(*a.to);
                 },
                 [&](const syntax::TypeSum& s) {
                   std::string out;
                   for (const auto& c : s.constructors) {
                     out += (out.empty() ? "#" : " | #") + c.name;
                     for (const auto& p : c.payload) out += " " + atom(*p);
                   }
                   return out;
                 },
                 [](const auto&) { return std::string(); }},
      te.node);
}

}  // namespace

// The record, sum or array type that a written type abbreviates, as far as it is written.
EntryPoints::Named EntryPoints::root_type(Named named) {
  for (int i = 0; named.te && i < kMaxAbbreviations; i++) {
    named.te = strip(named.te);
    const TypeExp* head = named.te;
    bool type_args = false;
    while (const auto* a = std::get_if<syntax::TypeApply>(&head->node)) {
      type_args |= std::holds_alternative<syntax::TypeExpPtr>(a->arg);
      head = strip(a->fun.get());
    }
    const auto* v = std::get_if<syntax::TypeVar>(&head->node);
    if (!v) return named;
    const TypeBinding* b = context_.find_type(v->name, named.env);
    if (!b || !b->source || type_args) return {};
    named = {b->source, b->source_env};
  }
  return named;
}

EntryPoints::Named EntryPoints::field_source(Named root, const std::string& field) {
  if (!root.te) return {};
  if (const auto* t = std::get_if<syntax::TypeTuple>(&root.te->node)) {
    for (size_t i = 0; i < t->elems.size(); i++) {
      if (std::to_string(i) == field) return {t->elems[i].get(), root.env};
    }
  } else if (const auto* r = std::get_if<syntax::TypeRecord>(&root.te->node)) {
    for (const auto& [name, te] : r->fields) {
      if (name == field) return {te.get(), root.env};
    }
  }
  return {};
}

void EntryPoints::entry_record(const core::TRecord& r, Named named, const SourceRange& range,
                               ValueType& out) {
  out.kind = TypeKind::kRecord;
  Named root = root_type(named);
  for (const auto& [name, type] : r.fields) {
    out.fields.push_back({name, entry_type(type, field_source(root, name), range)});
  }
}

void EntryPoints::entry_sum(const core::TSum& s, Named named, const SourceRange& range,
                            ValueType& out) {
  out.kind = TypeKind::kSum;
  Named root = root_type(named);
  const auto* written = root.te ? std::get_if<syntax::TypeSum>(&root.te->node) : nullptr;
  core::SumLayout layout = core::sum_layout(s, context_.out.abstract_types);
  for (size_t i = 0; i < s.constructors.size(); i++) {
    const auto& [name, payload] = s.constructors[i];
    ValueType::Variant v;
    v.name = name;
    for (size_t j = 0; j < payload.size(); j++) {
      Named source;
      if (written) {
        for (const auto& c : written->constructors) {
          if (c.name == name && j < c.payload.size()) source = {c.payload[j].get(), root.env};
        }
      }
      v.payload.push_back(entry_type(payload[j], source, range));
      std::vector<int> leaves = layout.payload[i][j];
      for (int& l : leaves) l += layout.tag ? 1 : 0;
      v.payload_leaves.push_back(std::move(leaves));
    }
    out.variants.push_back(std::move(v));
  }
}

void EntryPoints::entry_array(const TypePtr& t, Named named, const SourceRange& range,
                              ValueType& out) {
  out.kind = TypeKind::kArray;
  TypePtr elem = core::row_type(t, &out.rank);
  Named source = root_type(named);
  for (int i = 0; i < out.rank && source.te; i++) {
    const auto* a = std::get_if<syntax::TypeArray>(&source.te->node);
    source = a ? Named{a->elem.get(), source.env} : Named{};
    if (i + 1 < out.rank && source.te) source = root_type(source);
  }
  array_parts(elem, source, range, out);
}

// Element type and, for arrays of records, fields of the array type `out`.
void EntryPoints::array_parts(const TypePtr& elem, Named source, const SourceRange& range,
                              ValueType& out) {
  out.elemtype = entry_type(elem, source, range);
  const auto* r = std::get_if<core::TRecord>(&elem->node);
  if (!r) return;
  Named root = root_type(source);
  for (const auto& [name, type] : r->fields) {
    // A field of the array is an array of the field.
    TypePtr array = type;
    for (int i = 0; i < out.rank; i++) array = core::array_type(Size::any(), array);
    Named sub = field_source(root, name);
    std::string text;
    for (int i = 0; i < out.rank; i++) text += "[]";
    text += entry_type(type, sub, range);
    out.fields.push_back({name, text});
    array_named(array, text, sub, out.rank, range);
  }
}

// Adds the array type called `name`, `rank` dimensions round a type written as `elem`.
void EntryPoints::array_named(const TypePtr& t, const std::string& name, Named elem, int rank,
                              const SourceRange& range) {
  if (context_.reports.failed() || context_.out.types.count(name)) return;
  ValueType out;
  out.name = name;
  out.leaves = core::leaves_of(t, context_.out.abstract_types);
  out.kind = TypeKind::kArray;
  context_.out.types.emplace(name, out);
  TypePtr row = core::row_type(t, &out.rank);
  for (int i = rank; i < out.rank && elem.te; i++) {
    elem = root_type(elem);
    const auto* a = elem.te ? std::get_if<syntax::TypeArray>(&elem.te->node) : nullptr;
    elem = a ? Named{a->elem.get(), elem.env} : Named{};
  }
  array_parts(row, elem, range, out);
  context_.out.types[name] = out;
}

// The name of `t` in the type table; adds it and what it consists of.
std::string EntryPoints::entry_type(const TypePtr& type, Named named, const SourceRange& range) {
  TypePtr t = core::look_through(type, context_.out.abstract_types);
  int rank = 0;
  TypePtr row = core::row_type(t, &rank);
  if (std::holds_alternative<core::TArrow>(row->node) || core::contains_function(row)) {
    context_.reports.error(range, "Entry point functions may not be higher-order.");
    return "";
  }
  if (std::holds_alternative<core::TParam>(row->node)) {
    context_.reports.error(range, "Entry point functions may not be polymorphic.");
    return "";
  }
  ValueType out;
  core::Names names{&context_.out.var_names, &context_.tyvar_names, &context_.out.abstract_types,
                    false};
  out.name = named.te && !core::as_prim(row) ? written_name(*named.te) : core::str(t, names);
  if (context_.out.types.count(out.name)) return out.name;
  out.leaves = core::leaves_of(t, context_.out.abstract_types);
  context_.out.types.emplace(out.name, out);  // before its parts: the table stays consistent
  if (rank) {
    entry_array(t, named, range, out);
  } else if (const auto* r = std::get_if<core::TRecord>(&t->node)) {
    entry_record(*r, named, range, out);
  } else if (const auto* s = std::get_if<core::TSum>(&t->node)) {
    entry_sum(*s, named, range, out);
  }
  context_.out.types[out.name] = out;
  return out.name;
}

void EntryPoints::add_prim_types() {
  for (int i = 0; i < kPrimTypeCount; i++) {
    const auto p = static_cast<PrimType>(i);
    ValueType t;
    t.name = prim_name(p);
    t.leaves = {{p, 0}};
    context_.out.types.emplace(t.name, t);
  }
}

// Callers give arrays, and no sizes: those of the parameters must say all.
void EntryPoints::check_sizes(const syntax::DecVal& d, const core::Def& def) {
  std::unordered_set<VarId> whole, mentioned;
  TypePtr t = def.type;
  while (const auto* arrow = std::get_if<core::TArrow>(&t->node)) {
    core::whole_sizes(arrow->from, whole, core::Abstract::kOpaque);
    core::free_sizes(arrow->from, mentioned);
    t = arrow->to;
  }
  for (VarId v : def.sparams) {
    if (whole.count(v)) continue;
    const std::string name = "[" + context_.out.var_names[v.index] + "]";
    context_.reports.error(
        d.name_range,
        mentioned.count(v)
            ? "Size parameter " + name +
                  " of an entry point is only used non-constructively: as a part of sizes, or of "
                  "what an abstract type is of."
            : "Entry point functions may not be size-polymorphic in their result: no "
              "parameter has the size " +
                  name + ".");
  }
}

void EntryPoints::add(const syntax::DecVal& d, const syntax::Dec& dec, const core::Def& def,
                      EnvRef env) {
  if (!def.tparams.empty()) {
    context_.reports.error(d.name_range, "Entry point functions may not be polymorphic.");
    return;
  }
  check_sizes(d, def);
  core::EntryPoint out;
  out.def = def.id;
  out.name = d.name;
  TypePtr t = def.type;
  for (const auto& p : d.params) {
    const auto* arrow = std::get_if<core::TArrow>(&t->node);
    if (!arrow) break;
    core::EntryPoint::Param param;
    param.name = pattern_name(*p);
    param.unique = arrow->consumes;
    param.type = entry_type(arrow->from, {ascribed(*p), env}, d.name_range);
    out.params.push_back(std::move(param));
    t = arrow->to;
  }
  // `entry f : a -> b = ..`: further parameters, without names.
  Named ret{d.ret.get(), env};
  while (const auto* arrow = std::get_if<core::TArrow>(&t->node)) {
    Named from;
    if (ret.te) ret = root_type(ret);
    const auto* written = ret.te ? std::get_if<syntax::TypeArrow>(&ret.te->node) : nullptr;
    if (written) from = {written->from.get(), ret.env};
    core::EntryPoint::Param param;
    if (written && written->param) param.name = *written->param;
    param.unique = arrow->consumes;
    param.type = entry_type(arrow->from, from, d.name_range);
    out.params.push_back(std::move(param));
    ret = written ? Named{written->to.get(), ret.env} : Named{};
    t = arrow->to;
  }
  if (context_.reports.failed()) return;
  out.result_unique = t->unique;
  out.result = entry_type(t, ret, d.name_range);
  for (const auto& a : dec.attrs) out.attrs.push_back(a.str());
  out.doc = dec.doc.value_or("");
  context_.out.entries.push_back(std::move(out));
}

}  // namespace kenaz::check
