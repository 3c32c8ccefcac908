// Files, imports, and the whole program.
#include "kernels/futhark/check/check.h"

#include <algorithm>

#include "kernels/futhark/check/checker.h"
#include "kernels/futhark/syntax/parser.h"
#include "kernels/prelude/prelude.h"

namespace kenaz::check {

namespace {

constexpr std::string_view kPrelude = "/prelude/";

struct IntrinsicRow {
  core::Intrinsic op;
  const char* name;
  TypeMask mask;
  const char* type;
};

constexpr TypeMask kAny = kMaskAny, kNum = kMaskNum, kInt = kMaskInt, kFloat = kMaskFloat,
                   kIntBool = kMaskIntBool, kScalar = kMaskScalar, kEq = kMaskEquality;

const IntrinsicRow kIntrinsics[] = {
#define INTRINSIC(e, name, constraint, type) {core::Intrinsic::e, name, k##constraint, type},
#include "kernels/futhark/core/intrinsics.def"
#undef INTRINSIC
};

// "a/../b/./c" without the detours.
std::string normalise(const std::string& path) {
  std::vector<std::string> parts;
  std::string part;
  const bool absolute = !path.empty() && path[0] == '/';
  for (size_t i = 0; i <= path.size(); i++) {
    if (i < path.size() && path[i] != '/') {
      part += path[i];
      continue;
    }
    if (part == ".." && !parts.empty() && parts.back() != "..") {
      parts.pop_back();
    } else if (!part.empty() && part != "." && !(part == ".." && absolute)) {
      parts.push_back(part);
    }
    part.clear();
  }
  std::string out = absolute ? "/" : "";
  for (size_t i = 0; i < parts.size(); i++) out += (i ? "/" : "") + parts[i];
  return out;
}

std::string directory_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

}  // namespace

Checker::Checker(const SourceReader& read)
    : read_(read),
      types_(vars_, sizes_, infer_, reports_, scopes_, lookup_, naming_, hints_, fn_, finishing_,
             [this](const syntax::Exp& e) { return size_value(e); }),
      entries_({out_, *vars_.names().tyvars,
                [this](const syntax::QualName& name, EnvRef env) {
                  const TypeBinding* found = nullptr;
                  fn_.inside(env, [&](FnState&) { found = naming_.find_type(name); });
                  return found;
                },
                reports_}) {}

// The surroundings of the prelude: primitive types, the module `intrinsics`, plain operators.
void Checker::load_intrinsics() {
  base_ = scopes_.new_env({});
  for (int i = 0; i < kPrimTypeCount; i++) {
    TypeBinding* b = scopes_.new_type();
    b->type = core::prim_type(static_cast<PrimType>(i));
    b->name = prim_name(static_cast<PrimType>(i));
    scopes_.bind(base_->types, b->name, b, false);
  }
  std::string text = "module type intrinsics = {\n";
  for (const auto& row : kIntrinsics) {
    text += "val i" + std::to_string(static_cast<int>(row.op)) + " " + row.type + "\n";
  }
  text += "}\n";
  auto parsed = syntax::parse(std::make_shared<std::string>("intrinsics"), text);
  if (!parsed) {
    reports_.error({}, "The table of intrinsics does not parse: " + parsed.error().str());
    return;
  }
  intrinsics_program_ = std::move(*parsed);
  const auto& type = *std::get<syntax::DecModType>(intrinsics_program_.decs[0]->node).type;
  const auto& specs = std::get<syntax::ModTypeSpecs>(type.node).specs;
  Env* env = scopes_.new_env({});
  for (size_t i = 0; i < specs.size(); i++) {
    const IntrinsicRow& row = kIntrinsics[i];
    const auto* spec = std::get_if<syntax::SpecVal>(&specs[i]->node);
    ValBinding* v = scopes_.new_val();
    v->is_intrinsic = true;
    v->op = row.op;
    v->mask = row.mask;
    v->state = ValBinding::State::kLazy;
    v->force = [this, spec](ValBinding& out) {
      out.scheme = types_.spec_scheme(*spec, scopes_.now(base_));
    };
    scopes_.bind(env->vals, row.name, v, false);
    if (std::string_view("+-*/%&|^<>=!").find(row.name[0]) != std::string_view::npos &&
        row.op != core::Intrinsic::kNot) {
      scopes_.bind(base_->vals, row.name, v, false);
    }
  }
  add_accumulators(env);
  ModBinding* m = scopes_.new_mod();
  m->mod.env = env;
  scopes_.bind(base_->mods, "intrinsics", m, false);
}

/// The type of accumulators, `acc` of an array's type. It stands for a record of the array whose
/// field no program can name, so that it is no other type, nor an accumulator of another array.
void Checker::add_accumulators(Env* env) {
  const auto lifted = syntax::Liftedness::kSizeLifted;
  const TyVarId array = vars_.new_tyvar("a");
  const TypePtr param = core::make_type(core::TParam{array});
  const core::AbstractId id = vars_.new_abstract(
      {"intrinsics.acc", {array}, core::make_type(core::TRecord{{{" array", param}}})}, lifted);
  TypeBinding* b = scopes_.new_type();
  b->name = "acc";
  b->params = {array};
  b->lifted = lifted;
  b->type = core::make_type(core::TAbstract{id, {param}});
  scopes_.bind(env->types, b->name, b, false);
}

FileState* Checker::import(const std::string& path, const FileState* from,
                           const SourceRange& range) {
  std::string key;
  if (from && from->prelude) {
    const bool absolute = path.compare(0, kPrelude.size(), kPrelude) == 0;
    key = absolute ? path : normalise(std::string(kPrelude) + path);
  } else if (path.compare(0, kPrelude.size(), kPrelude) == 0) {
    key = normalise(path);
  } else if (!path.empty() && path[0] == '/') {
    key = normalise(path) + ".fut";
  } else {
    key = normalise((from ? from->dir : "") + path) + ".fut";
  }
  return load(key, range);
}

// The file with this key: its path, or "/prelude/NAME". Null after an error.
FileState* Checker::load(const std::string& key, const SourceRange& range) {
  auto known = files_.find(key);
  if (known != files_.end()) {
    if (!known->second->env) reports_.abandon();
    if (known->second->busy) reports_.error(range, "Import cycle: \"" + key + "\" imports itself.");
    return reports_.failed() ? nullptr : known->second.get();
  }
  auto owned = std::make_unique<FileState>();
  FileState* file = owned.get();
  files_[key] = std::move(owned);
  file->prelude = key.compare(0, kPrelude.size(), kPrelude) == 0;
  file->root = key == root_path_;
  std::string text;
  std::string_view view;
  if (file->prelude) {
    const std::string name = key.substr(kPrelude.size());
    for (const auto& [n, t] : prelude::sources()) {
      if (n == name) view = t;
    }
    if (view.data() == nullptr) reports_.error(range, "There is no \"" + key + "\".");
  } else {
    auto read = read_(key);
    if (!read) {
      reports_.error(range, "Could not read file \"" + key + "\": " + read.error().text());
    } else {
      text = std::move(*read);
      view = text;
    }
  }
  if (reports_.failed()) return nullptr;
  auto parsed =
      syntax::parse(std::make_shared<std::string>(file->prelude ? key + ".fut" : key), view);
  if (!parsed) {
    reports_.error(parsed.error());
    return nullptr;
  }
  file->program = std::move(*parsed);
  file->dir = directory_of(key);
  DepthGuard guard(fn_.depth());
  if (!guard.ok()) reports_.error(range, "Imports are nested too deeply.");
  const Restore assuming(assuming_, false);
  file->env =
      scopes_.new_env(file->prelude || !prelude_ ? scopes_.now(base_) : scopes_.now(prelude_));
  file->busy = true;
  fn_.inside(scopes_.now(file->env), [&](FnState&) {
    declarations(file->program.decs, {file, file->env, true});
  });
  file->busy = false;
  return reports_.failed() ? nullptr : file;
}

Result<core::Checked> Checker::run(const std::string& path) {
  root_path_ = normalise(path);
  load_intrinsics();
  entries_.add_prim_types();
  const auto& sources = prelude::sources();
  const bool has_prelude = std::any_of(sources.begin(), sources.end(),
                                       [](const auto& s) { return s.first == "prelude"; });
  if (!reports_.failed() && has_prelude) {
    FileState* prelude = load(std::string(kPrelude) + "prelude", {});
    if (prelude) {
      Env* env = scopes_.new_env(scopes_.now(base_));
      scopes_.open_into(env, *prelude->env, false);
      prelude_ = env;
    }
  }
  if (!reports_.failed()) load(root_path_, {});
  naming_.finish();
  if (const auto found = reports_.errors(); !found.empty()) {
    return tl::unexpected<Error>(compile_error(found));
  }
  std::sort(out_.entries.begin(), out_.entries.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  out_.warnings = reports_.warnings();
  return std::move(out_);
}

void Checker::observe(Record& record, std::stop_token stop) {
  naming_.note_in(record);
  stop_ = std::move(stop);
}

std::vector<std::string> Checker::files() const {
  std::vector<std::string> names;
  for (const auto& [name, file] : files_) {
    if (!file->prelude) names.push_back(name);
  }
  return names;
}

Result<core::Checked> check_program(const std::string& path, const SourceReader& read,
                                    std::vector<Diagnostic>* warnings) {
  Checker checker(read);
  auto result = checker.run(path);
  if (warnings) *warnings = checker.reports().warnings();
  return result;
}

}  // namespace kenaz::check
