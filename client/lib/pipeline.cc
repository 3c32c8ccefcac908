#include "client/lib/pipeline.h"

#include <fmt/format.h>

#include "client/lib/values.h"
#include "protocol/data/value.h"
#include "protocol/value_type.h"

namespace kenaz::client {
namespace {

constexpr const char* kPipelineInput = "_stream_in";

std::string stage_result_name(size_t k) { return fmt::format("_stream_{}", k); }
/// The state of the next chunk is made while that of this one exists, so there are two names.
std::string stage_state_name(size_t k, int64_t chunk) {
  return fmt::format("_stream_state_{}_{}", k, chunk % 2);
}

/// The type of an array of scalars; nullopt for any other.
std::optional<LeafType> array_leaf(std::string_view type) {
  const auto leaf = transparent_leaf(type);
  return leaf && leaf->rank > 0 ? leaf : std::nullopt;
}

std::string signature_text(const std::vector<EntryParam>& inputs,
                           const std::vector<std::string>& outputs) {
  std::string text;
  for (const auto& param : inputs) text += (param.consumed ? "*" : "") + param.type + " -> ";
  if (outputs.size() == 1) return text + outputs[0];
  return text + fmt::format("({})", fmt::join(outputs, ", "));
}

tl::unexpected<Error> not_a_stage(const std::string& entry, const std::string& signature,
                                  const std::string& why) {
  return bad_request(
      fmt::format("{} cannot be a stage, as {}: {}\nA stage is [n]a -> [m]b, or with a state "
                  "s -> [n]a -> (s, [m]b), behind parameters whose arguments do not change.",
                  entry, why, signature));
}

/// Fails unless the variable exists and is of this type.
Status check_variable(Client& client, const std::string& name, const std::string& type,
                      const std::string& what) {
  KENAZ_ASSIGN(const auto lines, client.request({"type", name}));
  if (lines.size() == 1 && lines[0] == type) return {};
  return bad_request(fmt::format("{} is of type {}, but {} is given", what, type,
                                 lines.empty() ? "nothing" : lines[0]));
}

std::string elements_text(int64_t first, int64_t count) {
  if (count == 0) return "no elements";
  if (count == 1) return fmt::format("element {}", first);
  return fmt::format("elements {} to {}", first, first + count - 1);
}

}  // namespace

Result<StageType> stage_type(Client& client, const std::string& entry) {
  Connection& server = client.connection();
  KENAZ_ASSIGN(const auto inputs, server.inputs(entry));
  KENAZ_ASSIGN(const auto names, server.request({"parameters", entry}));
  KENAZ_ASSIGN(auto outputs, server.request({"outputs", entry}));
  for (auto& type : outputs) {
    if (type.starts_with('*')) type.erase(0, 1);
  }
  const std::string signature = signature_text(inputs, outputs);
  const auto refuse = [&](const std::string& why) { return not_a_stage(entry, signature, why); };
  if (inputs.empty()) return refuse("it has no parameters");
  StageType stage;
  stage.entry = entry;
  stage.input = inputs.back().type;
  if (!array_leaf(stage.input)) return refuse("its last parameter is no array of scalars");
  size_t leading = inputs.size() - 1;
  if (outputs.size() == 2) {
    if (leading == 0) return refuse("it returns a state, but takes none");
    stage.state = inputs[--leading].type;
    if (outputs[0] != stage.state) {
      return refuse(fmt::format("it takes a state of type {}, but returns one of type {}",
                                stage.state, outputs[0]));
    }
  } else if (outputs.size() != 1) {
    return refuse(fmt::format("it returns {} values", outputs.size()));
  }
  stage.output = outputs.back();
  if (!array_leaf(stage.output)) return refuse("it returns no array of scalars");
  for (size_t i = 0; i < leading; ++i) {
    if (inputs[i].consumed) {
      return refuse(fmt::format("it consumes its parameter {}, which every chunk needs", i + 1));
    }
    stage.leading.push_back({i < names.size() ? names[i] : "", inputs[i].type});
  }
  return stage;
}

Status check_chain(std::span<const StageType> stages) {
  for (size_t k = 1; k < stages.size(); ++k) {
    if (stages[k].input == stages[k - 1].output) continue;
    return bad_request(fmt::format("the stages do not chain: {} gives {}, but {} takes {}",
                                   stages[k - 1].entry, stages[k - 1].output, stages[k].entry,
                                   stages[k].input));
  }
  return {};
}

Result<Pipeline> Pipeline::make(Client& client, std::vector<Stage> stages, Shape row) {
  Pipeline pipeline(client, std::move(stages), std::move(row));
  KENAZ_TRY(pipeline.check());
  return pipeline;
}

Status Pipeline::check() {
  if (stages_.empty()) return bad_request("a pipeline needs a stage");
  std::vector<StageType> types;
  for (const auto& stage : stages_) types.push_back(stage.type);
  KENAZ_TRY(check_chain(types));
  const auto input = array_leaf(types.front().input), output = array_leaf(types.back().output);
  if (!input || !output) return bad_request("the chunks of a pipeline are arrays of scalars");
  if (input->rank != static_cast<int>(row_.size()) + 1) {
    return bad_request(fmt::format(
        "{} takes {}: the shape of one element must have {} dimensions, but {} are given",
        types[0].entry, types[0].input, input->rank - 1, row_.size()));
  }
  input_ = input->prim;
  output_ = output->prim;
  output_rank_ = static_cast<size_t>(output->rank);
  KENAZ_ASSIGN(const int64_t bytes, data::checked_bytes(input_, row_));
  if (bytes == 0) return bad_request("the elements of a pipeline have no bytes");
  row_bytes_ = static_cast<size_t>(bytes);
  for (const auto& stage : stages_) {
    const auto& type = stage.type;
    if (stage.arguments.size() != type.leading.size() ||
        stage.state.empty() != type.state.empty()) {
      return bad_request(fmt::format("stage {} takes {} arguments and {} state", type.entry,
                                     type.leading.size(), type.state.empty() ? "no" : "a"));
    }
    for (size_t i = 0; i < stage.arguments.size(); ++i) {
      KENAZ_TRY(check_variable(*client_, stage.arguments[i], type.leading[i].type,
                               fmt::format("parameter {} of stage {}", i + 1, type.entry)));
    }
    if (stage.state.empty()) continue;
    KENAZ_TRY(
        check_variable(*client_, stage.state, type.state, "the state of stage " + type.entry));
  }
  return discard_leftovers();
}

std::vector<std::string> Pipeline::variables() const {
  std::vector<std::string> names = {kPipelineInput};
  for (size_t k = 0; k < stages_.size(); ++k) {
    names.push_back(stage_result_name(k));
    if (stages_[k].state.empty()) continue;
    names.push_back(stage_state_name(k, 0));
    names.push_back(stage_state_name(k, 1));
  }
  return names;
}

Status Pipeline::discard_leftovers() {
  std::vector<std::string> words = variables();
  for (const auto& stage : stages_) {
    // A caller may go on with the state, or the result, of an earlier pipeline.
    std::erase(words, stage.state);
    for (const auto& argument : stage.arguments) std::erase(words, argument);
  }
  words.insert(words.begin(), "discard");
  KENAZ_TRY(client_->request(words));
  return {};
}

std::string Pipeline::call(size_t k, const std::string& in, Chunk& chunk) {
  Stage& stage = stages_[k];
  const std::string out = stage_result_name(k);
  std::vector<std::string> inputs = stage.arguments, outs = {out}, used = {in};
  if (!stage.state.empty()) {
    inputs.push_back(stage.state);
    used.push_back(stage.state);
    stage.state = stage_state_name(k, chunk.number);
    outs.insert(outs.begin(), stage.state);
  }
  inputs.push_back(in);
  // To the server, results are the first of the words behind the entry point.
  inputs.insert(inputs.begin(), outs.begin() + 1, outs.end());
  const std::string what = "stage " + stage.type.entry;
  chunk.steps.push_back({what, client_->call_async(stage.type.entry, outs[0], inputs)});
  chunk.steps.push_back({what, client_->free_async(used)});
  return out;
}

void Pipeline::receive(const std::string& result, Chunk& chunk, const Client::SharedPlace* place) {
  chunk.received = std::make_shared<Received>();
  const auto allocate = [received = chunk.received, size = static_cast<size_t>(prim_size(output_))](
                            const Shape& shape, size_t count) {
    received->shape = shape;
    received->bytes.resize(count * size);
    received->done = true;
    return std::span<std::byte>(received->bytes);
  };
  if (place == nullptr) {
    chunk.steps.push_back({"its result", client_->get_bytes_async(result, output_, allocate)});
  } else {
    const auto found = [received = chunk.received](const Shape& shape,
                                                   std::span<const std::byte> elements) {
      received->shape = shape;
      received->shared = elements;
    };
    chunk.steps.push_back(
        {"its result", client_->get_shared_async(result, output_, *place, found, allocate)});
  }
  chunk.steps.push_back({"its result", client_->free_async({result})});
}

Result<std::pair<Pipeline::Chunk, Shape>> Pipeline::next_chunk(size_t bytes) {
  if (failed_) return tl::unexpected<Error>(*failed_);
  if (bytes % row_bytes_ != 0) {
    return bad_request(
        fmt::format("{} bytes are no whole number of elements of {} bytes", bytes, row_bytes_));
  }
  Chunk chunk;
  chunk.number = pushed_++;
  chunk.first = elements_;
  chunk.count = static_cast<int64_t>(bytes / row_bytes_);
  elements_ += chunk.count;
  Shape shape = {chunk.count};
  shape.insert(shape.end(), row_.begin(), row_.end());
  return std::pair(std::move(chunk), std::move(shape));
}

void Pipeline::compute(Chunk chunk, const Client::SharedPlace* place) {
  std::string value = kPipelineInput;
  for (size_t k = 0; k < stages_.size(); ++k) value = call(k, value, chunk);
  receive(value, chunk, place);
  chunks_.push_back(std::move(chunk));
}

Status Pipeline::push(std::span<const std::byte> elements) {
  KENAZ_ASSIGN(auto next, next_chunk(elements.size()));
  auto& [chunk, shape] = next;
  chunk.steps.push_back(
      {"sending it", client_->put_bytes_async(kPipelineInput, input_, elements, shape)});
  compute(std::move(chunk), nullptr);
  return {};
}

Status Pipeline::push_shared(const Client::SharedPlace& place, size_t at, size_t bytes) {
  KENAZ_ASSIGN(auto next, next_chunk(bytes));
  auto& [chunk, shape] = next;
  chunk.steps.push_back(
      {"sending it", client_->put_shared_async(kPipelineInput, input_, *place.memory, at, shape)});
  compute(std::move(chunk), &place);
  return {};
}

Result<Shape> Pipeline::pop(std::vector<std::byte>& elements) {
  KENAZ_ASSIGN(auto popped, pop_shared(elements));
  if (popped.elements.data() != elements.data()) {
    elements.assign(popped.elements.begin(), popped.elements.end());
  }
  return std::move(popped.shape);
}

Result<Pipeline::Popped> Pipeline::pop_shared(std::vector<std::byte>& spill) {
  if (failed_) return tl::unexpected<Error>(*failed_);
  if (chunks_.empty()) return bad_request("no chunk of the pipeline is under way");
  Chunk chunk = std::move(chunks_.front());
  chunks_.pop_front();
  // Its memory is used again, unless the reply has come with another one's.
  if (!chunk.received->done) chunk.received->bytes = std::move(spill);
  for (auto& step : chunk.steps) {
    const Status done = std::visit(
        [](auto& reply) -> Status {
          KENAZ_TRY(reply.get());
          return {};
        },
        step.reply);
    if (done) continue;
    Error error = done.error();
    error.message = fmt::format("chunk {} ({}), {}:\n{}", chunk.number,
                                elements_text(chunk.first, chunk.count), step.what, error.message);
    failed_ = std::move(error);
    return tl::unexpected<Error>(*failed_);
  }
  spill = std::move(chunk.received->bytes);
  const std::span<const std::byte> elements = chunk.received->shared.value_or(spill);
  return Popped{std::move(chunk.received->shape), elements};
}

Status Pipeline::finish() {
  chunks_.clear();
  if (client_->broken()) return {};
  std::vector<std::string> words = variables();
  for (const auto& stage : stages_) {
    if (!stage.state.empty()) words.push_back(stage.state);  // maybe still the caller's first one
  }
  words.insert(words.begin(), "discard");
  KENAZ_TRY(client_->request(words));
  return {};
}

}  // namespace kenaz::client
