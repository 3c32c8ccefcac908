#include "kernels/kir/passes/inline_calls.h"

#include <unordered_map>
#include <utility>

#include "kernels/kir/passes/rename.h"
#include "kernels/kir/visit.h"

namespace kenaz::kir {
namespace {

constexpr size_t kSmall = 32;        // instructions of a function
constexpr size_t kMost = 1024;       // that a kernel may gain
constexpr size_t kMostAhead = 8192;  // .. of which most is read ahead, which calls are not

class InlineCalls {
 public:
  explicit InlineCalls(Kernel& k) : k_(k) {}

  void run() {
    for (Function& f : k_.functions) {
      in(f.body);
      for (Value& r : f.results) replace(r);
      size_t size = 0;
      for_each_inst(f.body, [&](const Inst&) { size++; });
      sizes_.push_back(size);
    }
    in(k_.main);
  }

 private:
  void replace(Value& v) const {
    if (v.is_const()) return;
    if (auto it = same_.find(v.id().index); it != same_.end()) v = it->second;
  }

  void in(Block& b) {
    std::vector<Inst> out;
    for (Inst& i : b.insts) {
      visit_operands(i.op, [&](Value& v) { replace(v); });
      visit_blocks(i.op, [&](Block& inner) { in(inner); });
      visit_end_operands(i.op, [&](Value& v) { replace(v); });
      const auto* call = std::get_if<ICall>(&i.op);
      if (call == nullptr || sizes_[call->function.index] > kSmall ||
          gained_ + sizes_[call->function.index] > (k_.reads_ahead ? kMostAhead : kMost)) {
        out.push_back(std::move(i));
        continue;
      }
      gained_ += sizes_[call->function.index];
      expand(*call, out);
    }
    b.insts = std::move(out);
  }

  void expand(const ICall& call, std::vector<Inst>& out) {
    const Function& f = k_.functions[call.function.index];
    Renaming names(k_);
    for (size_t n = 0; n < f.params.size(); n++) names.replace(f.params[n], call.args[n]);
    for (const Inst& i : f.body.insts) out.push_back(names.copy(i));
    for (size_t n = 0; n < f.results.size(); n++) {
      Value result = f.results[n];
      names.rename(result);
      same_.insert_or_assign(call.dsts[n].index, result);
    }
  }

  Kernel& k_;
  std::vector<size_t> sizes_;  // of the functions so far
  size_t gained_ = 0;
  std::unordered_map<uint32_t, Value> same_;
};

}  // namespace

void inline_calls(Kernel& kernel) { InlineCalls(kernel).run(); }

}  // namespace kenaz::kir
