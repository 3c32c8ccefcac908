// kenaz image: filters on files.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <future>
#include <memory>

#include "client/cli/subcommands.h"
#include "client/image/filter.h"
#include "client/image/picture.h"
#include "client/lib/client.h"

namespace kenaz::cli {
namespace {

namespace fs = std::filesystem;
using image::Picture;

struct ImageCommand {
  client::ServerOptions server;
  std::string input, output;
  std::vector<std::string> params, layers;
  bool list = false;
};

/// A filter on a server that has been given everything but the picture.
class Filter {
 public:
  static Result<Filter> start(const ImageCommand& command);
  const image::FilterInfo& info() const { return info_; }
  /// What the command says besides the picture, sent to the server.
  Status prepare(const ImageCommand& command);
  Result<Picture> run(const Picture& input, const std::string& path);

 private:
  explicit Filter(client::Client server) : server_(std::move(server)) {}
  Status put_layers(const Picture& input, const std::string& path);

  client::Client server_;
  image::FilterInfo info_;
  std::vector<std::string> arguments_;  // behind the picture and the layers
  std::vector<std::optional<Picture>> layers_;
  size_t last_layer_ = 0;  // how many must be sent
};

Result<Filter> Filter::start(const ImageCommand& command) {
  KENAZ_ASSIGN(auto server, client::Client::start(command.server, client::Deadline::max()));
  Filter filter(std::move(server));
  KENAZ_ASSIGN(const auto entries, filter.server_.request({"entry_points"}));
  const std::string entry = entries.size() == 1 ? entries[0] : "";
  std::vector<std::string> attributes;
  if (!entry.empty()) {
    KENAZ_ASSIGN(attributes, filter.server_.request({"attributes", entry}));
  }
  KENAZ_ASSIGN(filter.info_, image::filter_info(entry, attributes));
  return filter;
}

Status Filter::prepare(const ImageCommand& command) {
  KENAZ_ASSIGN(const auto values, image::param_values(info_, command.params));
  layers_.resize(info_.layers.size());
  for (const std::string& given : command.layers) {
    const size_t sign = given.find('=');
    int number = 0;
    const bool good = sign != std::string::npos && sign > 0 &&
                      CLI::detail::lexical_cast(given.substr(0, sign), number);
    if (!good)
      return bad_request(fmt::format("\"{}\" is not NUMBER=FILE, as in -1=below.png", given));
    const auto place = std::find(info_.layers.begin(), info_.layers.end(), number);
    if (place == info_.layers.end()) {
      return bad_request(
          fmt::format("the filter reads no layer {}{}{}", number,
                      info_.layers.empty() ? "" : "; it reads: ", fmt::join(info_.layers, ", ")));
    }
    const size_t k = static_cast<size_t>(place - info_.layers.begin());
    KENAZ_ASSIGN(Picture layer, image::read_picture(given.substr(sign + 1)));
    layers_[k] = image::with_bits(std::move(layer), info_.bits());
    last_layer_ = std::max(last_layer_, k + 1);
  }
  for (const auto& texture : info_.textures) {
    const fs::path file = fs::path(command.server.program).parent_path() / texture.file;
    KENAZ_ASSIGN(Picture picture, image::read_picture(file.string()));
    arguments_.push_back("texture_" + texture.name);
    KENAZ_TRY(server_.put(arguments_.back(), image::with_bits(std::move(picture), 8).pixels));
  }
  for (size_t k = 0; k < values.size(); ++k) {
    arguments_.push_back("param_" + info_.params[k].name);
    KENAZ_TRY(server_.put(arguments_.back(), values[k]));
  }
  return {};
}

/// One array of all layers up to the last one that there is; others among them are 0.
Status Filter::put_layers(const Picture& input, const std::string& path) {
  data::Value all;
  all.type = input.pixels.type;
  all.shape = {static_cast<int64_t>(last_layer_), input.height(), input.width(), 4};
  for (size_t k = 0; k < last_layer_; ++k) {
    if (!layers_[k]) {
      all.bytes.resize(all.bytes.size() + input.pixels.bytes.size());
      continue;
    }
    if (layers_[k]->pixels.shape != input.pixels.shape) {
      return bad_request(fmt::format("layer {} has {} x {} pixels, but {} has {} x {}",
                                     info_.layers[k], layers_[k]->width(), layers_[k]->height(),
                                     path, input.width(), input.height()));
    }
    const auto& bytes = layers_[k]->pixels.bytes;
    all.bytes.insert(all.bytes.end(), bytes.begin(), bytes.end());
  }
  return server_.put("layers", all);
}

Result<Picture> Filter::run(const Picture& input, const std::string& path) {
  std::vector<std::string> arguments = {"picture"};
  KENAZ_TRY(server_.put("picture", input.pixels));
  if (!info_.layers.empty()) {
    KENAZ_TRY(put_layers(input, path));
    arguments.push_back("layers");
  }
  const size_t own = arguments.size();
  arguments.insert(arguments.end(), arguments_.begin(), arguments_.end());
  const auto time = server_.call(info_.entry, "result", arguments);
  arguments.resize(own);
  if (!time) {
    server_.free(arguments);
    return tl::make_unexpected(time.error());
  }
  KENAZ_ASSIGN(auto values, server_.get_values("result"));
  arguments.push_back("result");
  KENAZ_TRY(server_.free(arguments));
  Picture result;
  result.pixels = std::move(values[0]);
  return result;
}

struct Job {
  std::string from, to;
};

Result<std::vector<Job>> jobs_of(const ImageCommand& command) {
  std::error_code error;
  if (!fs::is_directory(command.input, error))
    return std::vector<Job>{{command.input, command.output}};
  std::vector<Job> jobs;
  fs::directory_iterator it(command.input, error), end;
  for (; !error && it != end; it.increment(error)) {
    if (!image::is_picture(it->path().string())) continue;
    // A folder or a pipe of such a name is none; a link that leads nowhere is one that fails.
    std::error_code absent;
    if (it->exists(absent) && !it->is_regular_file(absent)) continue;
    const fs::path name = it->path().stem().string() + ".png";
    jobs.push_back({it->path().string(), (fs::path(command.output) / name).string()});
  }
  if (error) return bad_request(fmt::format("{}: {}", command.input, error.message()));
  std::sort(jobs.begin(), jobs.end(), [](const Job& a, const Job& b) { return a.from < b.from; });
  for (size_t k = 1; k < jobs.size(); ++k) {
    if (jobs[k].to == jobs[k - 1].to) {
      return bad_request(fmt::format("{} and {} would both become {}", jobs[k - 1].from,
                                     jobs[k].from, jobs[k].to));
    }
  }
  if (jobs.empty()) return bad_request(command.input + ": there is no PNG or JPEG in this folder");
  fs::create_directories(command.output, error);
  if (error) return bad_request(fmt::format("{}: {}", command.output, error.message()));
  return jobs;
}

void show_progress(size_t done, size_t total, bool terminal) {
  if (!terminal || total < 2) return;
  constexpr size_t kWidth = 30;
  const size_t filled = done * kWidth / total;
  fmt::print(stderr, "\r\x1b[K[{}{}] {}/{}{}", std::string(filled, '#'),
             std::string(kWidth - filled, '.'), done, total, done == total ? "\n" : "");
}

/// While one picture is computed, the next one is read and the one before written.
int run_jobs(Filter& filter, const std::vector<Job>& jobs) {
  const bool terminal = ::isatty(STDERR_FILENO) != 0;
  const int bits = filter.info().bits();
  const auto read = [bits](const std::string& path) -> Result<Picture> {
    KENAZ_ASSIGN(Picture p, image::read_picture(path));
    return image::with_bits(std::move(p), bits);
  };
  const auto read_later = [&](size_t k) {
    return std::async(std::launch::async, read, jobs[k].from);
  };
  int code = kOk;
  const auto note = [&](const Status& status) {
    if (status) return;
    if (terminal && jobs.size() > 1) fmt::print(stderr, "\r\x1b[K");
    code = complain(status.error());
  };
  std::future<Result<Picture>> next = read_later(0);
  std::future<Status> writing;
  show_progress(0, jobs.size(), terminal);
  for (size_t k = 0; k < jobs.size(); ++k) {
    const Result<Picture> input = next.get();
    if (k + 1 < jobs.size()) next = read_later(k + 1);
    Result<Picture> result =
        input ? filter.run(*input, jobs[k].from) : tl::make_unexpected(input.error());
    if (writing.valid()) note(writing.get());
    if (result) {
      writing = std::async(std::launch::async, [to = jobs[k].to, picture = std::move(*result)] {
        return image::write_picture(to, picture);
      });
    } else {
      Error error = result.error();
      if (input) error.message = jobs[k].from + ": " + error.message;
      note(tl::unexpected<Error>(std::move(error)));
    }
    show_progress(k + 1, jobs.size(), terminal);
  }
  if (writing.valid()) note(writing.get());
  return code;
}

/// Fails for a file of another name, a picture say, which the server would take for Futhark's text.
Status check_name(const std::string& filter) {
  if (fs::path(filter).extension() == ".mfg") return {};
  return bad_request(filter + ": the name of a filter's file ends in .mfg");
}

int image_command(const ImageCommand& command) {
  if (const Status named = check_name(command.server.program); !named) {
    return complain(named.error(), kUsage);
  }
  if (!command.list && (command.input.empty() || command.output.empty())) {
    return complain(
        {ErrorKind::kBadRequest, "name a picture or a folder, and with -o what to write", {}},
        kUsage);
  }
  auto filter = Filter::start(command);
  if (!filter) return complain(filter.error());
  if (command.list) {
    if (!filter->info().title.empty()) print_text(filter->info().title + "\n");
    for (const auto& p : filter->info().params) print_text(p.str() + "\n");
    return kOk;
  }
  if (const Status ready = filter->prepare(command); !ready) return complain(ready.error(), kUsage);
  const auto jobs = jobs_of(command);
  if (!jobs) return complain(jobs.error());
  return run_jobs(*filter, *jobs);
}

}  // namespace

std::function<int()> declare_image(CLI::App& app) {
  auto command = std::make_shared<ImageCommand>();
  app.add_option("filter", command->server.program, "The filter's file")
      ->option_text("FILTER.mfg")
      ->required();
  app.add_option("picture", command->input, "A PNG or JPEG, or a folder of them");
  add_server_options(app, command->server);
  app.add_option("-o,--output", command->output, "The PNG to write; of a folder: the folder");
  app.add_option("-p,--param", command->params, "A parameter; components with commas")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  app.add_option("--layer", command->layers, "Another layer, of the same size")
      ->type_name("NUMBER=FILE")
      ->allow_extra_args(false);
  app.add_flag("--params", command->list, "List the filter's parameters");
  return [command] { return image_command(*command); };
}

}  // namespace kenaz::cli
