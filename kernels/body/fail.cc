// Checks inside a thread.
#include "kernels/body/statements.h"
#include "kernels/body/thread.h"

namespace kenaz::body {

void check(Thread& t, const ir::Stm& s, const ir::EAssert& e) {
  const kir::Value cond = t.env.scalar(e.cond);
  t.env.bind(s.pat[0], kir::boolean(true));
  if (cond.is_bool(true)) return;
  program::KernelFailure failure;
  kir::Values args;
  for (const auto& part : e.message) {
    if (const auto* text = std::get_if<std::string>(&part)) {
      failure.message.emplace_back(*text);
      continue;
    }
    if (args.size() == static_cast<size_t>(program::kMaxFailureArgs)) {
      failure.message.emplace_back(std::string("..."));
      continue;
    }
    failure.message.emplace_back(static_cast<int>(args.size()));
    args.push_back(t.env.scalar(std::get<ir::Atom>(part)));
    failure.arg_types.push_back(args.back().type.prim);
  }
  failure.backtrace = t.ir().backtrace(s.prov);
  const int number = t.host.add_failure(std::move(failure));
  t.k.if_(t.k.not_(cond), [&] { t.k.fail(number, std::move(args)); });
}

}  // namespace kenaz::body
