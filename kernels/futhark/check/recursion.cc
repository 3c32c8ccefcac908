#include "kernels/futhark/check/recursion.h"

#include <fmt/format.h>

#include "kernels/futhark/core/children.h"

namespace kenaz::check {
namespace {

class RecursionCheck {
 public:
  RecursionCheck(const core::Def& def,
                 const std::function<bool(const core::TypePtr&)>& may_be_function)
      : def_(def), may_be_function_(may_be_function) {}

  std::optional<Diagnostic> run() {
    const auto* lambda = std::get_if<core::ELambda>(&def_.body->node);
    if (!lambda) return {};
    params_ = &lambda->params;
    core::TypePtr result = def_.type;
    for (size_t i = 0; i < params_->size(); i++) {
      const auto* arrow = std::get_if<core::TArrow>(&result->node);
      if (!arrow) return {};
      result = arrow->to;
    }
    if (may_be_function_(result)) {
      report(def_.range, fmt::format("The result of the recursive function \"{}\" is not "
                                     "first-order: it may have functions inside.",
                                     def_.name));
    }
    walk(*lambda->body);
    return found_;
  }

 private:
  bool is_self(const core::ExpPtr& e) const {
    const auto* v = std::get_if<core::EVar>(&e->node);
    return v && v->id == def_.id;
  }

  bool has_functions() const {
    for (const auto& p : *params_) {
      if (may_be_function_(p->type)) return true;
    }
    return false;
  }

  void walk(const core::Exp& e) {
    if (found_) return;
    const auto* a = std::get_if<core::EApply>(&e.node);
    if (a && is_self(a->fun)) {
      application(e, *a);
      for (const core::ExpPtr& arg : a->args) walk(*arg);
      return;
    }
    core::for_each_child(e, [&](const core::ExpPtr& child) {
      if (is_self(child) && has_functions()) {
        report(child->range, fmt::format("Recursive reference to \"{}\" must be a fully saturated "
                                         "application, as it has a higher-order parameter.",
                                         def_.name));
      }
      walk(*child);
    });
  }

  void application(const core::Exp& e, const core::EApply& a) {
    if (a.args.size() < params_->size()) {
      report(e.range, fmt::format("Recursive application of \"{}\" is not fully saturated: it has "
                                  "{} parameters.",
                                  def_.name, params_->size()));
      return;
    }
    for (size_t i = 0; i < params_->size(); i++) {
      const core::Pat& param = *(*params_)[i];
      if (!may_be_function_(param.type)) continue;
      const auto* bound = std::get_if<core::PBind>(&param.node);
      const auto* passed = std::get_if<core::EVar>(&a.args[i]->node);
      if (bound && passed && passed->id == bound->id) continue;
      report(a.args[i]->range,
             fmt::format("A functional argument of the recursive function \"{}\" must be passed "
                         "unchanged, as the parameter that it is.",
                         def_.name));
    }
  }

  void report(const SourceRange& range, std::string message) {
    if (found_) return;
    found_.emplace();
    found_->range = range;
    found_->message = std::move(message);
  }

  const core::Def& def_;
  const std::function<bool(const core::TypePtr&)>& may_be_function_;
  const std::vector<core::PatPtr>* params_ = nullptr;
  std::optional<Diagnostic> found_;
};

}  // namespace

std::optional<Diagnostic> check_recursion(
    const core::Def& def, const std::function<bool(const core::TypePtr&)>& may_be_function) {
  return RecursionCheck(def, may_be_function).run();
}

}  // namespace kenaz::check
