// The translation of each kind of statement, and what several of them need. For the files of this
// folder only.
#pragma once

#include <functional>
#include <optional>
#include <variant>
#include <vector>

#include "kernels/body/thread.h"

namespace kenaz::body {

// ---- index.cc: views
void index(Thread& t, const ir::Stm& s, const ir::EIndex& e);
void rearrange(Thread& t, const ir::Stm& s, const ir::ERearrange& e);
void reshape(Thread& t, const ir::Stm& s, const ir::EReshape& e);

// ---- arrays.cc: making arrays
void iota(Thread& t, const ir::Stm& s, const ir::EIota& e);
void replicate(Thread& t, const ir::Stm& s, const ir::EReplicate& e);
void array_literal(Thread& t, const ir::Stm& s, const ir::EArrayLit& e);
void concat(Thread& t, const ir::Stm& s, const ir::EConcat& e);
void copy(Thread& t, const ir::Stm& s, const ir::ECopy& e);
/// Memory for the array that `v` is to be: where it is wanted, or new.
KernelArray dest_for(Thread& t, ir::VarId v);
/// The array, moved to new memory if it has none.
KernelArray in_memory(Thread& t, const KernelArray& a, const std::vector<ir::Atom>& dims);
/// A loop over 0 .. n - 1; what an iteration takes from the heap is free after it.
void for_elements(Thread& t, const kir::Value& n, const std::function<void(kir::Value)>& body);

// ---- update.cc: in place
void update(Thread& t, const ir::Stm& s, const ir::EUpdate& e);
void scatter(Thread& t, const ir::Stm& s, const ir::EScatter& e);
void hist(Thread& t, const ir::Stm& s, const ir::EHist& e);

// ---- fail.cc, call.cc
void check(Thread& t, const ir::Stm& s, const ir::EAssert& e);
void call(Thread& t, const ir::Stm& s, const ir::ECall& e);

// ---- control.cc, loops.cc
void branch(Thread& t, const ir::Stm& s, const ir::EIf& e);
void loop(Thread& t, const ir::Stm& s, const ir::ELoop& e);

// ---- soacs.cc: loops
void soac(Thread& t, const ir::Stm& s, const ir::ESoac& e);

// ---- slots.cc
/// What holds a value that changes: a variable, or memory.
using Slot = std::variant<kir::Var, KernelArray>;
KernelValue read(Thread& t, const Slot& slot);
std::vector<KernelValue> read(Thread& t, const std::vector<Slot>& slots);
/// All at once: values may lie in the slots. `types_of`: variables of the slots' types.
void assign(Thread& t, const std::vector<Slot>& slots, const std::vector<KernelValue>& values,
            const std::vector<ir::VarId>& types_of);

}  // namespace kenaz::body
