// Files, imports, and the whole program.
#include "kernels/futhark/check/check.h"

#include <algorithm>

#include "kernels/futhark/check/checker.h"
#include "kernels/futhark/syntax/parser.h"
#include "kernels/prelude/prelude.h"

namespace kenaz::check {

namespace {

constexpr std::string_view kPrelude = "/prelude/";
/// What programs import that ships with the server: kenaz/NAME.
constexpr std::string_view kLibrary = "/prelude/library/kenaz/";

struct IntrinsicRow {
  core::Intrinsic op;
  const char* name;
  TypeMask mask;
  const char* type;
};

constexpr TypeMask kAny = kMaskAny, kNum = kMaskNum, kInt = kMaskInt, kUnsigned = kMaskUnsigned,
                   kFloat = kMaskFloat, kIntBool = kMaskIntBool, kScalar = kMaskScalar,
                   kEq = kMaskEquality;

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

/// A source that is embedded; null if there is none.
const std::string_view* embedded(const std::string& name) {
  for (const auto& [n, text] : prelude::sources()) {
    if (n == name) return &text;
  }
  return nullptr;
}

/// The text of a library, by its name: one that uses what only this compiler has, if it exists.
const std::string_view* library(const std::string& name) {
  const std::string_view* native = embedded("library/native/" + name);
  return native != nullptr ? native : embedded("library/kenaz/" + name);
}

/// NAME of a path "..kenaz/NAME"; or nothing.
std::string library_name(const std::string& path) {
  const std::string folder = directory_of(path);
  if (folder != "kenaz/" && !folder.ends_with("/kenaz/")) return "";
  return path.substr(folder.size());
}

}  // namespace

Checker::Checker(const SourceReader& read)
    : read_(read),
      types_(context_, finishing_,
             [this](const syntax::Exp& e) { return definitions_.exps().size_value(e); }),
      patterns_(context_, types_),
      definitions_(context_, out_, finishing_, types_, patterns_),
      entries_({out_, *context_.vars.names().tyvars,
                [this](const syntax::QualName& name, EnvRef env) {
                  const TypeBinding* found = nullptr;
                  context_.fn.inside(env,
                                     [&](FnState&) { found = context_.naming.find_type(name); });
                  return found;
                },
                context_.reports}),
      modules_(context_, finishing_, types_, patterns_, definitions_, entries_,
               [this](const std::string& path, const FileState* from, const SourceRange& range) {
                 return import(path, from, range);
               }) {}

// The surroundings of the prelude: primitive types, the module `intrinsics`, plain operators.
void Checker::load_intrinsics() {
  base_ = context_.scopes.new_env({});
  for (int i = 0; i < kPrimTypeCount; i++) {
    TypeBinding* b = context_.scopes.new_type();
    b->type = core::prim_type(static_cast<PrimType>(i));
    b->name = prim_name(static_cast<PrimType>(i));
    context_.scopes.bind(base_->types, b->name, b, false);
  }
  std::string text = "module type intrinsics = {\n";
  for (const auto& row : kIntrinsics) {
    text += "val i" + std::to_string(static_cast<int>(row.op)) + " " + row.type + "\n";
  }
  text += "}\n";
  auto parsed = syntax::parse(std::make_shared<std::string>("intrinsics"), text);
  if (!parsed) {
    context_.reports.error({}, "The table of intrinsics does not parse: " + parsed.error().str());
    return;
  }
  intrinsics_program_ = std::move(*parsed);
  const auto& type = *std::get<syntax::DecModType>(intrinsics_program_.decs[0]->node).type;
  const auto& specs = std::get<syntax::ModTypeSpecs>(type.node).specs;
  Env* env = context_.scopes.new_env({});
  for (size_t i = 0; i < specs.size(); i++) {
    const IntrinsicRow& row = kIntrinsics[i];
    const auto* spec = std::get_if<syntax::SpecVal>(&specs[i]->node);
    ValBinding* v = context_.scopes.new_val();
    v->is_intrinsic = true;
    v->op = row.op;
    v->mask = row.mask;
    v->state = ValBinding::State::kLazy;
    v->force = [this, spec](ValBinding& out) {
      out.scheme = types_.spec_scheme(*spec, context_.scopes.now(base_));
    };
    context_.scopes.bind(env->vals, row.name, v, false);
    // Logical shifts are the modules' alone: plain `>>` of unsigned integers is one.
    if (std::string_view("+-*/%&|^<>=!").find(row.name[0]) != std::string_view::npos &&
        row.op != core::Intrinsic::kNot && row.op != core::Intrinsic::kLShr) {
      context_.scopes.bind(base_->vals, row.name, v, false);
    }
  }
  add_accumulators(env);
  ModBinding* m = context_.scopes.new_mod();
  m->mod.env = env;
  context_.scopes.bind(base_->mods, "intrinsics", m, false);
}

/// The type of accumulators, `acc` of an array's type. It stands for a record of the array whose
/// field no program can name, so that it is no other type, nor an accumulator of another array.
void Checker::add_accumulators(Env* env) {
  const auto lifted = syntax::Liftedness::kSizeLifted;
  const TyVarId array = context_.vars.new_tyvar("a");
  const TypePtr param = core::make_type(core::TParam{array});
  const core::AbstractId id = context_.vars.new_abstract(
      {"intrinsics.acc", {array}, core::make_type(core::TRecord{{{" array", param}}})}, lifted);
  TypeBinding* b = context_.scopes.new_type();
  b->name = "acc";
  b->params = {array};
  b->lifted = lifted;
  b->type = core::make_type(core::TAbstract{id, {param}});
  context_.scopes.bind(env->types, b->name, b, false);
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
    key = normalise((from ? from->dir : "") + path);
    const std::string name = library_name(key);
    key = is_in_library(key, path, name) ? std::string(kLibrary) + name : key + ".fut";
  }
  return load(key, range);
}

/// Whether the library's file is meant: there is no such file here, or it has the text that ships,
/// of which the library has a version of its own.
bool Checker::is_in_library(const std::string& key, const std::string& path,
                            const std::string& name) {
  if (name.empty() || library(name) == nullptr) return false;
  if (key.starts_with(kLibrary)) return true;
  const auto found = read_(key + ".fut");
  // A file that cannot be read is meant all the same, and whoever loads it says why.
  if (!found) return found.error().kind == ErrorKind::kNoSuchFile && path == "kenaz/" + name;
  return embedded("library/native/" + name) != nullptr &&
         *found == *embedded("library/kenaz/" + name);
}

FileState* Checker::load(const std::string& key, const SourceRange& range, bool root) {
  auto known = context_.files.find(key);
  if (known != context_.files.end()) {
    if (!known->second->env) context_.reports.abandon();
    if (known->second->busy)
      context_.reports.error(range, "Import cycle: \"" + key + "\" imports itself.");
    return context_.reports.failed() ? nullptr : known->second.get();
  }
  auto owned = std::make_unique<FileState>();
  FileState* file = owned.get();
  context_.files[key] = std::move(owned);
  const bool in_library = key.starts_with(kLibrary);
  file->prelude = !in_library && key.starts_with(kPrelude);
  file->root = root;
  std::string text;
  std::string_view view;
  if (file->prelude || in_library) {
    const std::string_view* source =
        in_library ? library(key.substr(kLibrary.size())) : embedded(key.substr(kPrelude.size()));
    if (source == nullptr) {
      context_.reports.error(range, "There is no \"" + key + "\".");
    } else {
      view = *source;
    }
  } else {
    auto read = read_(key);
    if (!read) {
      context_.reports.error(range, "Could not read file \"" + key + "\": " + read.error().text());
    } else {
      text = std::move(*read);
      view = text;
    }
  }
  if (context_.reports.failed()) return nullptr;
  auto parsed = syntax::parse(
      std::make_shared<std::string>(key.ends_with(".fut") ? key : key + ".fut"), view);
  if (!parsed) {
    context_.reports.error(parsed.error());
    return nullptr;
  }
  file->program = std::move(*parsed);
  file->dir = directory_of(key);
  DepthGuard guard(context_.fn.depth());
  if (!guard.ok()) context_.reports.error(range, "Imports are nested too deeply.");
  file->env = context_.scopes.new_env(file->prelude || !prelude_ ? context_.scopes.now(base_)
                                                                 : context_.scopes.now(prelude_));
  modules_.declarations(*file);
  return context_.reports.failed() ? nullptr : file;
}

Result<core::Checked> Checker::run(const std::string& path) {
  load_intrinsics();
  entries_.add_prim_types();
  if (!context_.reports.failed() && embedded("prelude") != nullptr) {
    FileState* prelude = load(std::string(kPrelude) + "prelude", {});
    if (prelude) {
      Env* env = context_.scopes.new_env(context_.scopes.now(base_));
      context_.scopes.open_into(env, *prelude->env, false);
      prelude_ = env;
    }
  }
  const std::string key = normalise(path);
  // The folder that we are in has no parts, but a name that errors can tell.
  if (!context_.reports.failed()) load(key.empty() && !path.empty() ? "." : key, {}, true);
  context_.naming.finish();
  if (const auto found = context_.reports.errors(); !found.empty()) {
    return tl::unexpected<Error>(compile_error(found));
  }
  std::sort(out_.entries.begin(), out_.entries.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  out_.warnings = context_.reports.warnings();
  return std::move(out_);
}

void Checker::observe(Record& record, std::stop_token stop) {
  context_.naming.note_in(record);
  definitions_.exps().stop_at(std::move(stop));
}

std::vector<std::string> Checker::files() const {
  std::vector<std::string> names;
  for (const auto& [name, _] : context_.files) {
    if (!name.starts_with(kPrelude)) names.push_back(name);
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
