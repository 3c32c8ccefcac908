// Commands that make, move and free whole variables: call, free, ...
#include <fmt/format.h>

#include <chrono>
#include <map>

#include "server/host/failures.h"
#include "server/session/session.h"

namespace kenaz {
namespace {

/// A tuple's fields are numbered; any other value is its own only component.
std::vector<std::string> component_types(const ValueType& type) {
  std::vector<std::string> types;
  if (type.kind == TypeKind::kRecord) {
    for (const auto& f : type.fields) {
      if (f.name != std::to_string(types.size())) return {type.name};
      types.push_back(f.type);
    }
    return types;
  }
  return {type.name};
}

size_t component_count(const ValueType& type) { return component_types(type).size(); }

}  // namespace

Status Session::do_outputs(Args args) {
  KENAZ_ASSIGN(const auto* entry, find_entry(args[0]));
  for (const auto& type : component_types(types().at(entry->result))) {
    print((entry->result_unique ? "*" : "") + type);
  }
  return {};
}

Status Session::add_results(const host::EntrySignature& entry, Args outs, Leaves leaves) {
  if (outs.size() == 1)
    return variables_.add(outs[0], {entry.result, std::move(leaves), program_.types()});
  return scatter(program_.types(), component_types(types().at(entry.result)), outs, leaves);
}

/// What a call consumes may be overwritten, so where anything else holds it (another variable,
/// another argument, a download) the call gets a copy.
Status Session::own_consumed(const host::EntrySignature& entry, Leaves& leaves) {
  constexpr int kVariableAndArgument = 2;
  auto leaf = leaves.begin();
  for (const auto& param : entry.params) {
    for (int i = 0; i < param.leaves; ++i, ++leaf) {
      const bool alone = leaf->use_count() <= kVariableAndArgument;
      if (!param.consumed || (*leaf)->shape.empty() || alone) continue;
      KENAZ_ASSIGN(*leaf, engine()->element(*leaf, 0, 0));
    }
  }
  return {};
}

Status Session::do_call(Args args) {
  KENAZ_ASSIGN(const auto* entry, find_entry(args[0]));
  // Before 0.26.1 Futhark's servers gave a tuple's components a variable each; from there on it is
  // one variable. The number of words tells which is meant.
  const size_t wanted = entry->params.size();
  const size_t components = component_count(types().at(entry->result));
  const bool apart = components != 1 && args.size() == 1 + components + wanted;
  const Args outs = args.subspan(1, apart ? components : std::min<size_t>(1, args.size() - 1));
  const Args inputs = args.subspan(1 + outs.size());
  if ((outs.empty() && !apart) || inputs.size() != wanted) {
    return bad_request(fmt::format("Entry point {} takes {} inputs, but {} are given.", entry->name,
                                   wanted, inputs.size()));
  }
  Leaves leaves;
  for (size_t i = 0; i < wanted; ++i) {
    KENAZ_ASSIGN(const Variable* v, variables_.find(inputs[i]));
    if (!has_type(*v, entry->params[i].type, *program_.types())) {
      return bad_request(fmt::format("Wrong input type.  Expected {}, got {}.",
                                     entry->params[i].type,
                                     type_text(*v, entry->params[i].type, *program_.types())));
    }
    leaves.insert(leaves.end(), v->leaves.begin(), v->leaves.end());
  }
  for (const auto& out : outs) KENAZ_TRY(variables_.check_free(out));
  KENAZ_TRY(own_consumed(*entry, leaves));
  if (cancelled_) return host::program_failure("the call was cancelled.", "");

  const auto start = std::chrono::steady_clock::now();
  engine()->set_profiled(recording_);
  auto result = engine()->call(entry->name, leaves);
  const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
  if (recording_) record_call(entry->name, time.count());
  program_.placement().called(time.count() / 1e6);
  if (program_.is_loaded()) program_.loaded_called(time.count() / 1e6, !result);
  if (options_.metrics) {
    // Names that clients make up have no end.
    const bool loaded = program_.is_loaded();
    options_.metrics->called(loaded ? "" : program_.name(), loaded ? "(loaded)" : entry->name,
                             time.count() / 1e6, !result);
  }
  if (options_.log) {
    for (const auto& c : engine()->comparisons()) {  // in Futhark's words, for its tools
      print(fmt::format("Compared {} <= {}: {}.", c.param, c.size, c.holds));
    }
    const auto memory = engine()->memory();
    print(fmt::format("Called {}: device memory {} bytes, peak {} bytes", entry->name, memory.used,
                      memory.peak));
  }
  print(fmt::format("runtime: {}", static_cast<int64_t>(time.count())));
  if (!result) return tl::make_unexpected(std::move(result).error());
  return add_results(*entry, outs, std::move(*result));
}

Status Session::do_free(Args args) {
  for (const auto& name : args) KENAZ_TRY(variables_.remove(name));
  return {};
}

Status Session::do_discard(Args args) {
  for (const auto& name : args) {
    if (variables_.find(name)) KENAZ_TRY(variables_.remove(name));
  }
  return {};
}

Status Session::do_vars(Args) {
  std::map<std::string_view, const Variable*> sorted;
  for (const auto& [name, variable] : variables_.all()) sorted.emplace(name, &variable);
  for (const auto& [name, variable] : sorted) {
    int64_t bytes = 0;
    for (const auto& leaf : variable->leaves) bytes += leaf->bytes();
    const std::string words[] = {std::string(name), variable->type, std::to_string(bytes)};
    KENAZ_ASSIGN(std::string line, protocol::join_words(words));
    print(std::move(line));
  }
  return {};
}

Status Session::do_rename(Args args) { return variables_.rename(args[0], args[1]); }

Status Session::do_clear(Args) {
  variables_.clear();
  engine()->clear_caches();
  return {};
}

}  // namespace kenaz
