// kenaz stream: a sequence without an end, in chunks, through entry points.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/cli/subcommands.h"
#include "client/lib/pipeline_run.h"
#include "client/lib/pipes.h"
#include "client/lib/values.h"
#include "client/stream/fd_input.h"
#include "client/stream/formats.h"
#include "protocol/base/nearest.h"
#include "protocol/data/text_format.h"

namespace kenaz::cli {
namespace {

constexpr int64_t kStreamChunk = int64_t{1} << 20;
constexpr int64_t kStreamMostElements = int64_t{1} << 40;

struct StreamCommand {
  std::string target;  // a program or a URL
  client::ServerOptions server;
  RemoteOptions remote;
  std::vector<std::string> stages, params, states;
  client::Shape row;
  int64_t chunk = kStreamChunk;
  std::string format = "raw", input_format, output_format;  // empty: as `format`
};

stream::Format format_named(const std::string& name) {
  if (name == "text") return stream::Format::kText;
  return name == "binary" ? stream::Format::kBinary : stream::Format::kRaw;
}

/// --param NAME=VALUE, or STAGE.NAME=VALUE.
struct StreamParam {
  std::string stage, name, value;  // stage "": all
  bool used = false;
};

/// Could the text be an entry point's name, rather than a value?
bool is_entry_name(const std::string& text) {
  if (text == "true" || text == "false" || text.empty()) return false;
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return letter(text[0]) && std::all_of(text.begin(), text.end(), [&](char c) {
           return letter(c) || (c >= '0' && c <= '9') || c == '\'';
         });
}

/// Makes the pipeline that a command describes, with its arguments on the server.
class StreamSetup {
 public:
  StreamSetup(client::Client& client, const StreamCommand& command)
      : client_(client), command_(command) {}

  Result<client::Pipeline> make() {
    KENAZ_ASSIGN(entries_, client_.request({"entry_points"}));
    KENAZ_TRY(find_stages());
    KENAZ_TRY(read_params());
    std::vector<client::Stage> stages;
    size_t states = 0;  // used
    for (size_t k = 0; k < types_.size(); ++k) {
      client::Stage stage{types_[k], {}, ""};
      KENAZ_TRY(place_arguments(k, stage));
      if (!stage.type.state.empty()) {
        stage.state = fmt::format("_stream_first_{}", k);
        KENAZ_TRY(place(command_.states[states++], stage.type.state, stage.state,
                        "the state of stage " + stage.type.entry));
      }
      stages.push_back(std::move(stage));
    }
    for (const auto& param : params_) {
      if (!param.used) return bad_request("no stage has a parameter for --param " + text_of(param));
    }
    return client::Pipeline::make(client_, std::move(stages), command_.row);
  }

  /// Frees what `make` has put on the server, also where it failed, and the pipeline has not freed.
  Status free_arguments() {
    std::vector<std::string> words = {"discard"};
    words.insert(words.end(), arguments_.begin(), arguments_.end());
    if (!arguments_.empty()) KENAZ_TRY(client_.request(words));
    return {};
  }

 private:
  /// Everything about types is refused here, before values are made.
  Status find_stages() {
    std::vector<std::string> names = command_.stages;
    if (names.empty()) names.emplace_back();
    for (const auto& name : names) {
      KENAZ_ASSIGN(const auto entry, choose_entry(entries_, name));
      KENAZ_ASSIGN(auto type, client::stage_type(client_, entry));
      types_.push_back(std::move(type));
    }
    KENAZ_TRY(client::check_chain(types_));
    std::vector<std::string> with_state;
    for (const auto& type : types_) {
      if (!type.state.empty()) with_state.push_back(fmt::format("{} ({})", type.entry, type.state));
    }
    if (with_state.size() == command_.states.size()) return {};
    if (with_state.empty()) return bad_request("--state is given, but no stage carries a state");
    return bad_request(fmt::format(
        "each stage that carries a state needs a first one, by --state VALUE or --state ENTRY, in "
        "their order; these do: {}; given are {}",
        fmt::join(with_state, ", "), command_.states.size()));
  }

  Status read_params() {
    for (const auto& given : command_.params) {
      const size_t equals = given.find('=');
      if (equals == std::string::npos || equals == 0) {
        return bad_request(fmt::format("\"{}\" is not NAME=VALUE", given));
      }
      StreamParam param{"", given.substr(0, equals), given.substr(equals + 1)};
      if (const size_t dot = param.name.find('.'); dot != std::string::npos) {
        param.stage = param.name.substr(0, dot);
        param.name.erase(0, dot + 1);
      }
      params_.push_back(std::move(param));
    }
    return {};
  }

  static std::string text_of(const StreamParam& p) {
    return fmt::format("{}{}{}={}", p.stage, p.stage.empty() ? "" : ".", p.name, p.value);
  }

  /// The value for a stage's parameter: one that is for this stage alone comes first.
  const std::string* value_for(const std::string& stage, const std::string& name) {
    StreamParam* best = nullptr;
    for (auto& p : params_) {
      if (p.name != name || (!p.stage.empty() && p.stage != stage)) continue;
      p.used = true;
      if (best == nullptr || best->stage.empty() || !p.stage.empty()) best = &p;
    }
    return best != nullptr ? &best->value : nullptr;
  }

  Status place_arguments(size_t k, client::Stage& stage) {
    for (size_t i = 0; i < stage.type.leading.size(); ++i) {
      const auto& [name, type] = stage.type.leading[i];
      if (name.empty()) {
        return bad_request(
            fmt::format("parameter {} of stage {} has no name that --param could use", i + 1,
                        stage.type.entry));
      }
      const std::string* value = value_for(stage.type.entry, name);
      if (value == nullptr) {
        return bad_request(
            fmt::format("stage {} has a parameter {} of type {}: give it by --param "
                        "{}=VALUE",
                        stage.type.entry, name, type, name));
      }
      stage.arguments.push_back(fmt::format("_stream_param_{}_{}", k, i));
      KENAZ_TRY(place(*value, type, stage.arguments.back(),
                      fmt::format("parameter {} of stage {}", name, stage.type.entry)));
    }
    return {};
  }

  /// Makes the variable of a value's text, or of what an entry point gives. One that a command that
  /// was interrupted has left in the session is replaced.
  Status place(const std::string& text, const std::string& type, const std::string& variable,
               const std::string& what) {
    arguments_.push_back(variable);
    KENAZ_TRY(client_.request({"discard", variable}));
    if (is_entry_name(text)) return place_result(text, type, variable, what);
    const auto leaf = client::transparent_leaf(type);
    if (!leaf) {
      return bad_request(
          fmt::format("{} is of type {}, whose values cannot be written here: name "
                      "an entry point without parameters that gives one",
                      what, type));
    }
    data::ByteSource source(text);
    const auto value = data::read_text(source, *leaf);
    if (!value) return bad_request(fmt::format("{}: {}", what, value.error().message));
    data::skip_space(source);
    if (source.peek() >= 0) return bad_request(fmt::format("{}: more than one value", what));
    return client_.put(variable, *value);
  }

  Status place_result(const std::string& entry, const std::string& type,
                      const std::string& variable, const std::string& what) {
    if (std::find(entries_.begin(), entries_.end(), entry) == entries_.end()) {
      const std::string near = nearest(entry, entries_);
      return bad_request(fmt::format("{}: {} is neither a value of type {} nor an entry point.{}",
                                     what, entry, type,
                                     near.empty() ? "" : fmt::format(" Did you mean '{}'?", near)));
    }
    client::Connection& server = client_.connection();
    KENAZ_ASSIGN(const auto inputs, server.inputs(entry));
    KENAZ_ASSIGN(const auto output, server.output(entry));
    if (!inputs.empty()) {
      return bad_request(fmt::format("{} is to come from {}, which takes {} arguments, not 0", what,
                                     entry, inputs.size()));
    }
    if (output.type != type) {
      return bad_request(
          fmt::format("{} is of type {}, but {} gives {}", what, type, entry, output.type));
    }
    KENAZ_TRY(client_.call(entry, variable, {}));
    return {};
  }

  client::Client& client_;
  const StreamCommand& command_;
  std::vector<std::string> entries_;
  std::vector<client::StageType> types_;
  std::vector<StreamParam> params_;
  std::vector<std::string> arguments_;  // variables, first states among them
};

Status run_stream(client::Pipeline& pipeline, const StreamCommand& command) {
  const auto format_of = [&](const std::string& own) {
    return format_named(own.empty() ? command.format : own);
  };
  const stream::Element element{pipeline.input_element(), command.row};
  client::widen_pipe(STDIN_FILENO);
  client::widen_pipe(STDOUT_FILENO);
  stream::FdInput input(STDIN_FILENO, "standard input");
  const auto source = stream::make_source(format_of(command.input_format), element, input);
  const auto sink = stream::make_sink(format_of(command.output_format), pipeline.output_element(),
                                      pipeline.output_rank() - 1, {print_text, flush_output});
  KENAZ_TRY(client::run_pipeline(pipeline, *source, *sink, command.chunk));
  return sink->finish();
}

int stream_command(const StreamCommand& command) {
  auto client = open_target(command.target, command.server, command.remote);
  if (!client) return complain(client.error());
  StreamSetup setup(*client, command);
  auto pipeline = setup.make();
  if (!pipeline) {
    // Where this fails as well, the first failure says more.
    if (!command.remote.connect.session_name.empty()) (void)setup.free_arguments();
    const bool usage = pipeline.error().kind == ErrorKind::kBadRequest;
    return complain(pipeline.error(), usage ? kUsage : kFailed);
  }
  const Status done = run_stream(*pipeline, command);
  const int code = done ? kOk : complain(done.error());
  // After a failure, what is still computed is not waited for, unless its variables would stay.
  if (!done && command.remote.connect.session_name.empty()) return code;
  const Status freed = [&]() -> Status {
    KENAZ_TRY(pipeline->finish());
    KENAZ_TRY(setup.free_arguments());
    return client->finish();
  }();
  return done && !freed ? complain(freed.error()) : code;
}

}  // namespace

std::function<int()> declare_stream(CLI::App& app) {
  auto command = std::make_shared<StreamCommand>();
  const auto formats = CLI::IsMember({"raw", "text", "binary"});
  app.add_option(
         "target", command->target,
         "The program's file, or a server's tcp://HOST:PORT, tls://HOST:PORT or unix://PATH")
      ->required();
  app.add_option("-e,--entry-point", command->stages,
                 "The entry points, in order (default: the only one, or main)")
      ->type_name("STAGE[,STAGE..]")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("-c,--chunk", command->chunk, "Elements in a chunk; the last one may have fewer")
      ->capture_default_str()
      ->check(CLI::Range(int64_t{1}, kStreamMostElements));
  app.add_option(
         "-p,--param", command->params,
         "The argument for a stage's leading parameter, the same for all chunks: a value, or "
         "an entry point without parameters; STAGE.NAME=VALUE is for one stage")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  app.add_option(
         "-s,--state", command->states,
         "The first state, once for each stage that carries one: a value, or an entry point "
         "without parameters")
      ->type_name("VALUE")
      ->allow_extra_args(false);
  app.add_option("--shape", command->row,
                 "The shape of one element, where the first stage takes [n][k]t: k")
      ->type_name("K[,K..]")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(int64_t{1}, kStreamMostElements));
  app.add_option("-f,--format", command->format,
                 "How elements are written: raw (as in memory, little endian), text (a line each), "
                 "binary (Futhark's binary format)")
      ->capture_default_str()
      ->check(formats);
  app.add_option("--input-format", command->input_format, "The same, for the input alone")
      ->check(formats);
  app.add_option("--output-format", command->output_format, "The same, for the output alone")
      ->check(formats);
  add_server_options(app, command->server);
  add_remote_options(app, command->remote);
  return [command] { return stream_command(*command); };
}

}  // namespace kenaz::cli
