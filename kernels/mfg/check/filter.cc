#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <new>

#include "kernels/mfg/check/check.h"
#include "kernels/mfg/check/checker.h"
#include "kernels/mfg/check/prelude.h"
#include "kernels/mfg/syntax/parser.h"
#include "protocol/base/large_stack_thread.h"
#include "protocol/base/utf8.h"

namespace kenaz::mfg {

namespace {

struct WidgetKind {
  std::string_view name;
  std::string_view types;  // of the parameters that it is for
  float init;
};
constexpr std::array<WidgetKind, 6> kWidgets = {{{"SLIDER", "i32 f32", 0},
                                                 {"CHECKBOX", "i32", 0},
                                                 {"DROPDOWN", "i32", 0},
                                                 {"POINTER", "f32v2", 0.5F},
                                                 {"COLOR_PICKER", "f32v4", 0},
                                                 {"DIRECTION", "f32", 0}}};

}  // namespace

void Checker::load_prelude() {
  auto file = std::make_shared<SourceFile>();
  file->name = "the filter language's own functions";
  file->text = prelude_text();
  prelude_ = parse_or_throw(file);
  open();
  for (const Item& item : prelude_.items) {
    const auto& f = std::get<Function>(item.node);
    scopes_[0].emplace(f.name.text, Symbol{SymFunction{&f, true}, f.name.range});
  }
}

const Texts& Checker::texts(const SourceRange& range) {
  if (texts_) return *texts_;
  texts_.emplace();
  const auto folder = std::filesystem::path(path_).parent_path();
  const auto json = read_((folder / "strings.json").string());
  if (!json && json.error().kind == ErrorKind::kNoSuchFile) return *texts_;
  if (auto found = json ? english_texts(*json) : std::nullopt) {
    texts_ = std::move(found);
  } else {
    out_.warnings.push_back(
        {Severity::kWarning,
         range,
         fmt::format("strings.json, beside this filter, {}. Its texts are shown "
                     "as their names.",
                     json ? "is not a JSON object" : "cannot be read: " + json.error().message),
         {},
         {}});
  }
  return *texts_;
}

std::string Checker::text_of(const Text& text) {
  if (!text.is_name) return text.text;
  const Texts& all = texts(text.range);
  const auto found = all.find(text.text);
  return found == all.end() ? text.text : found->second;
}

std::vector<PrimValue> Checker::widget_values(const Widget& w, const std::vector<PrimValue>& values,
                                              const SourceRange& range, const Type& type) {
  std::vector<PrimValue> list = values;
  for (PrimValue& v : list) {
    if (type.prim() == PrimType::kF32 && is_integer(v.type)) {
      v = PrimValue::f32(static_cast<float>(v.as_i64()));
    }
    if (v.type != type.prim() || list.size() != type.size()) {
      reject(range,
             fmt::format("Parameter {} is of type {}; this is not.", w.name.text, type.str()));
    }
  }
  return list;
}

void Checker::widget(const Widget& w) {
  const std::string name = w.type.text == "param_pos" ? "f32v2" : w.type.text.substr(6);
  const WidgetKind* kind = nullptr;
  for (const WidgetKind& k : kWidgets) {
    if (k.name == w.kind.text) kind = &k;
  }
  if (name != "i32" && name != "f32" && name != "f32v2" && name != "f32v4") {
    reject(w.type.range, "Parameters are of type i32, f32, f32v2 or f32v4.");
  }
  if (kind == nullptr) {
    reject(w.kind.range,
           "A parameter is a SLIDER, CHECKBOX, DROPDOWN, POINTER, COLOR_PICKER or "
           "DIRECTION.");
  }
  const std::string types = fmt::format(" {} ", kind->types);
  if (types.find(" " + name + " ") == std::string::npos) {
    reject(w.kind.range, fmt::format("A {} is for parameters of type {}, but this one is {}.",
                                     kind->name, kind->types, name));
  }
  const Type type = *type_from_name(name);
  ParamInfo p;
  p.name = w.name.text;
  p.var = declare_var(w.name, type);
  p.widget = kind->name;
  p.label = text_of(w.label);
  for (const Text& item : w.items) p.items.push_back(text_of(item));
  p.min = widget_values(w, w.min, w.min_range, type);
  p.max = widget_values(w, w.max, w.max_range, type);
  p.init = widget_values(w, w.init, w.init_range, type);
  if (p.init.empty() && !p.min.empty()) p.init = p.min;
  for (size_t k = p.init.size(); k < type.size(); ++k) {
    const bool alpha = kind->name == "COLOR_PICKER" && k == 3;
    p.init.push_back(is_integer(type.prim()) ? PrimValue::i32(0)
                                             : PrimValue::f32(alpha ? 1 : kind->init));
  }
  out_.params.push_back(std::move(p));
}

void Checker::result_tensor(const TensorDef& d, const SourceRange& range) {
  if (out_.result.valid()) reject(d.name.range, "A filter has one result; this is another one.");
  if (!d.bounds.empty()) {
    reject(d.bounds_range, "The result is as large as the input; it has no @bounds.");
  }
  if (d.block == nullptr) reject(range, "The result is defined by a block: |x, y| {..}.");
  TensorInfo info;
  info.depth = out_.depth = d.name.text == "result_u8" ? 8 : 16;
  const PrimType prim = out_.depth == 8 ? PrimType::kU8 : PrimType::kU16;
  info.elem = Type::vector(prim, 4);
  const TensorId picture = input(out_.depth, 0);
  CDef def;
  def.tensor = new_tensor(info, d.name);
  out_.result = def.tensor;
  for (int k = 0; k < 2; ++k) def.bounds.push_back(extent(picture, k, range));
  defining_.push_back(def.tensor);
  open();
  def.indices = parameters(*d.block, std::vector(2, Type::scalar(PrimType::kI32)), d.name.text);
  def.body = body(*d.block, nullptr, d.name.text);
  close();
  defining_.pop_back();
  const Type type = def.body.result->type;
  if (!type.tuple || type.size() != 4 || !type.all_integers()) {
    reject(d.block->result->range,
           fmt::format("The block of {} gives {}, blue, green, red and alpha, but this is {}.",
                       d.name.text, info.elem.str(), type.str()));
  }
  def.body.result = convert(def.body.result, info.elem);
  emit(range, std::move(def));
}

void Checker::global_tensor(const TensorDef& d, const SourceRange& range) {
  if (d.name.text == "result_u8" || d.name.text == "result_u16") return result_tensor(d, range);
  if (d.literal_rank > 0) return literal(d, TensorInfo::kGlobal, range);
  TensorInfo info;
  if (!d.file.empty()) {
    info.kind = TensorInfo::kTexture;
    info.elem = Type::vector(PrimType::kU8, 4);
    info.file = d.file;
    declare(d.name, {new_tensor(std::move(info), d.name), {}});
    return;
  }
  if (d.reduce != nullptr) {
    int dim = 0;
    CReduce r = reduction(std::get<EReduce>(d.reduce->node), dim, range);
    info.elem = r.init->type;
    info.rank = out_.tensors[r.source.index].rank - 1;
    if (info.rank == 0) {
      const VarId v = declare_var(d.name, info.elem);
      const Type type = info.elem;
      return emit(range, CLet{v, make(type, range, std::move(r))});
    }
    const TensorId t = new_tensor(std::move(info), d.name);
    declare(d.name, {t, {}});
    return emit(range, CReduceTo{t, dim, std::move(r)});
  }
  if (d.bounds.empty() || d.bounds.size() > 2) {
    reject(d.name.range, fmt::format("Tensor {} needs its size: @bounds(width) or "
                                     "@bounds(width, height) before it.",
                                     d.name.text));
  }
  CDef def;
  for (const ExpPtr& b : d.bounds) {
    CExpPtr size = exp(*b);
    if (size->type.tuple || !is_integer(size->type.prim())) {
      reject(b->range,
             fmt::format("A tensor's size is an integer, but this is {}.", size->type.str()));
    }
    def.bounds.push_back(bind(convert(std::move(size), Type::scalar(PrimType::kI32))));
  }
  info.rank = static_cast<int>(d.bounds.size());
  def.tensor = new_tensor(std::move(info), d.name);
  defining_.push_back(def.tensor);
  open();
  def.indices =
      parameters(*d.block, std::vector(d.bounds.size(), Type::scalar(PrimType::kI32)), d.name.text);
  def.body = body(*d.block, nullptr, d.name.text);
  close();
  defining_.pop_back();
  out_.tensors[def.tensor.index].elem = def.body.result->type;
  declare(d.name, {def.tensor, {}});
  emit(range, std::move(def));
}

void Checker::define_function(const Function& f) {
  std::vector<CExpPtr> args;
  bool typed = true;
  for (const Param& p : f.block->params) {
    if (p.type.text.empty()) {
      typed = false;
      continue;
    }
    const auto type = type_from_name(p.type.text);
    if (!type) reject(p.type.range, fmt::format("There is no type \"{}\".", p.type.text));
    args.push_back(var(new_var(p.name.text, *type), p.name.range));
  }
  const SymFunction symbol{&f, false};
  if (typed) {  // what nobody calls is checked as well
    std::vector<CStm> nowhere;
    std::vector<CStm>* outer = std::exchange(sink_, &nowhere);
    inlined_body(symbol, args, f.name.range);
    sink_ = outer;
  }
  declare(f.name, {symbol, {}});
}

void Checker::item(const Item& i) {
  if (const auto* l = std::get_if<SLet>(&i.node)) {
    let(*l, i.range);
  } else if (const auto* d = std::get_if<TensorDef>(&i.node)) {
    global_tensor(*d, i.range);
  } else if (const auto* f = std::get_if<Function>(&i.node)) {
    define_function(*f);
  } else if (const auto* w = std::get_if<Widget>(&i.node)) {
    widget(*w);
  } else {
    exp(*std::get<Print>(i.node).value);  // for its types; nobody prints it
  }
}

CFilter Checker::run(const Filter& filter) {
  load_prelude();
  open();
  base_ = 2;
  changeable_ = 2;
  sink_ = &out_.stms;
  out_.name = path_;
  out_.title = text_of(filter.title);
  out_.version = text_of(filter.version);
  for (const Item& i : filter.items) item(i);
  color_parameters();
  if (!out_.result.valid()) {
    reject(filter.end, "A filter has a result: def result_u8 |x, y| {..}, or result_u16.");
  }
  for (const auto& [key, tensor] : inputs_) {
    const int layer = key.second;
    if (layer != 0 &&
        std::find(out_.layers.begin(), out_.layers.end(), layer) == out_.layers.end()) {
      out_.layers.push_back(layer);
    }
  }
  std::sort(out_.layers.begin(), out_.layers.end());
  return std::move(out_);
}

Result<CFilter> check(const std::string& path, const SourceReader& read) {
  const auto text = read(path);
  if (!text) {
    return fail(text.error().kind,
                fmt::format("Could not read file \"{}\": {}", path, text.error().message));
  }
  auto file = std::make_shared<SourceFile>();
  file->name = path;
  file->text = without_byte_order_mark(*text);
  Result<CFilter> result = internal_error("checking did not run");
  const auto work = [&] {
    try {
      const Filter filter = parse_or_throw(file);
      result = Checker(read, path).run(filter);
    } catch (const Rejected& r) {
      result = tl::unexpected<Error>(compile_error({r.diagnostic}));
    } catch (const std::bad_alloc&) {
      result = fail(ErrorKind::kOutOfMemory, "there is not enough memory to check this program");
    }
  };
  { const LargeStackThread thread(work); }  // ends when the work has
  return result;
}

}  // namespace kenaz::mfg
