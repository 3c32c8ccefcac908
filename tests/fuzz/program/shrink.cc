#include "tests/fuzz/program/shrink.h"

#include <algorithm>
#include <map>

#include "tests/fuzz/program/generator.h"

namespace kenaz::fuzz {
namespace {

using Path = std::vector<size_t>;

const ExprPtr& at(const ExprPtr& root, const Path& path) {
  const ExprPtr* e = &root;
  for (const size_t i : path) e = &(*e)->children.at(i);
  return *e;
}

ExprPtr replaced(const ExprPtr& root, const Path& path, const ExprPtr& by, size_t depth = 0) {
  if (depth == path.size()) return by;
  auto copy = std::make_shared<Expr>(*root);
  copy->children[path[depth]] = replaced(root->children[path[depth]], path, by, depth + 1);
  return copy;
}

void collect_paths(const ExprPtr& e, Path& path, std::vector<Path>& out) {
  out.push_back(path);
  for (size_t i = 0; i < e->children.size(); ++i) {
    path.push_back(i);
    collect_paths(e->children[i], path, out);
    path.pop_back();
  }
}

void collect_descendants(const ExprPtr& e, const Type& type, std::vector<ExprPtr>& out) {
  for (const auto& child : e->children) {
    if (child->type == type) out.push_back(child);
    collect_descendants(child, type, out);
  }
}

bool uses_function(const Program& p, const std::string& name) {
  return std::any_of(p.functions.begin(), p.functions.end(),
                     [&](const Function& f) { return free_names(*f.body).count(name) > 0; });
}

class Shrinker {
 public:
  Shrinker(Case c, const std::function<bool(const Case&)>& shows, int tries)
      : best_(std::move(c)), shows_(shows), tries_(tries) {}

  Case run() {
    one_input();
    bool better = true;
    while (better && tries_ > 0) {
      better = functions();
      better = results() || better;
      better = bodies() || better;
      better = parameters() || better;
      better = sums() || better;
      better = declarations() || better;
      better = sizes() || better;
      better = values() || better;
    }
    return std::move(best_);
  }

 private:
  bool attempt(Case c) {
    if (tries_ <= 0) return false;
    --tries_;
    if (!shows_(c)) return false;
    best_ = std::move(c);
    return true;
  }

  void one_input() {
    for (size_t i = 0; i < best_.inputs.size() && best_.inputs.size() > 1; ++i) {
      Case c = best_;
      c.inputs = {best_.inputs[i]};
      if (attempt(std::move(c))) return;
    }
  }

  bool functions() {
    bool better = false;
    for (size_t i = 0; i + 1 < best_.program.functions.size();) {
      Case c = best_;
      const std::string name = c.program.functions[i].name;
      c.program.functions.erase(c.program.functions.begin() + static_cast<std::ptrdiff_t>(i));
      if (!uses_function(c.program, name) && attempt(std::move(c))) {
        better = true;
      } else {
        ++i;
      }
    }
    return better;
  }

  /// One component of a tuple of results instead of all.
  bool results() {
    const Function& main = best_.program.main();
    if (main.result.kind != Type::kTuple) return false;
    for (size_t i = 0; i < main.result.parts.size(); ++i) {
      Case c = best_;
      Function& f = c.program.functions.back();
      f.result = main.result.parts[i];
      const bool plain = std::string(main.body->rule) == "tuple";
      f.body = plain ? main.body->children[i]
                     : Make("project", f.result)
                           .t("(")
                           .child(main.body)
                           .t(")." + std::to_string(i))
                           .done();
      const bool rounded = i < c.program.tolerant.size() && c.program.tolerant[i];
      c.program.tolerant = {rounded};
      if (attempt(std::move(c))) return true;
    }
    return false;
  }

  bool bodies() {
    bool better = false;
    for (size_t f = 0; f < best_.program.functions.size(); ++f) better = body(f) || better;
    return better;
  }

  /// Tries to replace every node, from the root down.
  bool body(size_t function) {
    bool better = false;
    std::vector<Path> paths;
    Path path;
    collect_paths(best_.program.functions[function].body, path, paths);
    for (size_t i = 0; i < paths.size() && tries_ > 0; ++i) {
      if (!node(function, paths[i])) continue;
      better = true;
      paths.clear();
      collect_paths(best_.program.functions[function].body, path, paths);
      --i;  // what is there now may become smaller still
    }
    return better;
  }

  std::vector<Var> scope_at(const Function& f, const Path& path) const {
    std::vector<Var> vars = f.params;
    for (const auto& size : f.sizes) vars.push_back({size, Type::of(PrimType::kI64), {}});
    const Expr* e = f.body.get();
    for (const size_t i : path) {
      vars.insert(vars.end(), e->binds[i].begin(), e->binds[i].end());
      e = e->children[i].get();
    }
    return vars;
  }

  bool node(size_t function, const Path& path) {
    const Function& f = best_.program.functions[function];
    const ExprPtr e = at(f.body, path);
    if (e->fixed) return false;
    const std::vector<Var> scope = scope_at(f, path);
    std::set<std::string> names;
    for (const Var& v : scope) names.insert(v.name);
    for (const Function& g : best_.program.functions) names.insert(g.name);

    std::vector<ExprPtr> candidates;
    Generator plain(0, {});
    candidates.push_back(plain.simplest(e->type));
    if (!e->children.empty()) {
      for (const Var& v : scope) {
        if (v.type == e->type) candidates.push_back(Make("variable", e->type).name(v.name).done());
      }
      collect_descendants(e, e->type, candidates);
      constructed(e, candidates);
    }
    const size_t now = text_of(*e).size();
    std::sort(candidates.begin(), candidates.end(), [](const ExprPtr& a, const ExprPtr& b) {
      return text_of(*a).size() < text_of(*b).size();
    });
    std::string last;
    for (const ExprPtr& candidate : candidates) {
      const std::string text = text_of(*candidate);
      if (text.size() >= now || text == last) continue;
      last = text;
      const auto used = free_names(*candidate);
      if (!std::includes(names.begin(), names.end(), used.begin(), used.end())) continue;
      Case c = best_;
      Function& changed = c.program.functions[function];
      changed.body = replaced(changed.body, path, candidate);
      if (attempt(std::move(c))) return true;
    }
    return false;
  }

  /// An array of something that is computed inside the node: replicate.
  static void constructed(const ExprPtr& e, std::vector<ExprPtr>& out) {
    if (!e->type.is_array()) return;
    std::vector<ExprPtr> elements;
    collect_descendants(e, e->type.element(), elements);
    for (const auto& x : elements) {
      out.push_back(Make("replicate", e->type)
                        .t("(replicate ")
                        .name(e->type.size)
                        .t(" ")
                        .child(x)
                        .t(")")
                        .done());
    }
  }

  /// Parameters of main that nothing needs.
  bool parameters() {
    bool better = false;
    for (size_t i = 0; i < best_.program.main().params.size();) {
      Case c = best_;
      Function& f = c.program.functions.back();
      const std::string name = f.params[i].name;
      f.params.erase(f.params.begin() + static_cast<std::ptrdiff_t>(i));
      for (auto& input : c.inputs) input.erase(input.begin() + static_cast<std::ptrdiff_t>(i));
      const auto used = free_names(*f.body);
      std::set<std::string> bound;
      for (const Var& p : f.params) collect_sizes(p.type, bound);
      f.sizes.erase(std::remove_if(f.sizes.begin(), f.sizes.end(),
                                   [&](const std::string& s) { return bound.count(s) == 0; }),
                    f.sizes.end());
      std::set<std::string> lost;
      for (const auto& size : best_.program.main().sizes) {
        if (std::find(f.sizes.begin(), f.sizes.end(), size) == f.sizes.end()) lost.insert(size);
      }
      lost.insert(name);
      std::set<std::string> needed = used;
      collect_sizes(f.result, needed);
      const bool free = std::none_of(lost.begin(), lost.end(),
                                     [&](const std::string& n) { return needed.count(n) > 0; });
      if (free && attempt(std::move(c))) {
        better = true;
      } else {
        ++i;
      }
    }
    return better;
  }

  bool sums() {
    for (size_t i = 0; i < best_.program.sums.size(); ++i) {
      Case c = best_;
      c.program.sums.erase(c.program.sums.begin() + static_cast<std::ptrdiff_t>(i));
      if (text_of(c.program).find(best_.program.sums[i].alias) != std::string::npos) continue;
      if (attempt(std::move(c))) return true;
    }
    return false;
  }

  /// The last ones first, since they may need the ones before.
  bool declarations() {
    bool better = false;
    for (size_t i = best_.program.decls.size(); i-- > 0;) {
      Case c = best_;
      c.program.decls.erase(c.program.decls.begin() + static_cast<std::ptrdiff_t>(i));
      better = attempt(std::move(c)) || better;
    }
    return better;
  }

  /// Cuts all arguments that have a size.
  bool sizes() {
    bool better = false;
    const std::vector<std::string> names = best_.program.main().sizes;
    for (const auto& size : names) {
      const int64_t now = current(size);
      for (const int64_t n : {int64_t{0}, int64_t{1}, int64_t{2}, int64_t{3}, now / 2, now - 1}) {
        if (n < 0 || n >= now) continue;
        if (!attempt(resized(size, n))) continue;
        better = true;
        break;
      }
    }
    return better;
  }

  int64_t current(const std::string& size) const {
    const Function& main = best_.program.main();
    for (size_t i = 0; i < main.params.size(); ++i) {
      size_t dim = 0;
      for (const Type* t = &main.params[i].type; t->is_array(); t = &t->element(), ++dim) {
        if (t->size == size) return best_.inputs.at(0).at(i).shape.at(dim);
      }
    }
    return 0;
  }

  Case resized(const std::string& size, int64_t n) const {
    Case c = best_;
    const Function& main = c.program.main();
    for (size_t i = 0; i < main.params.size(); ++i) {
      for (Input& input : c.inputs) {
        data::Value& v = input[i];
        data::Value cut;
        cut.type = v.type;
        cut.shape = v.shape;
        size_t dim = 0;
        for (const Type* t = &main.params[i].type; t->is_array(); t = &t->element(), ++dim) {
          if (t->size == size) cut.shape[dim] = std::min(n, cut.shape[dim]);
        }
        int64_t count = 1;
        for (const int64_t d : cut.shape) count *= d;
        for (int64_t k = 0; k < count; ++k) data::append(cut, v.at(k));
        v = std::move(cut);
      }
    }
    return c;
  }

  /// All elements of an argument the same, or one of them zero.
  bool values() {
    bool better = false;
    for (size_t i = 0; i < best_.program.main().params.size(); ++i) {
      const data::Value now = best_.inputs.at(0).at(i);
      for (const int64_t n : {0, 1}) {
        data::Value same;
        same.type = now.type;
        same.shape = now.shape;
        const PrimValue element = is_float(now.type)     ? PrimValue::of_float(now.type, double(n))
                                  : is_integer(now.type) ? PrimValue::of_int(now.type, n)
                                                         : PrimValue::of_bool(n == 1);
        for (int64_t k = 0; k < now.count(); ++k) data::append(same, element);
        if (same == now) break;
        Case c = best_;
        c.inputs[0][i] = same;
        if (!attempt(std::move(c))) continue;
        better = true;
        break;
      }
    }
    return better;
  }

  Case best_;
  const std::function<bool(const Case&)>& shows_;
  int tries_;
};

}  // namespace

Case shrink(Case c, const std::function<bool(const Case&)>& shows, int tries) {
  return Shrinker(std::move(c), shows, tries).run();
}

}  // namespace kenaz::fuzz
