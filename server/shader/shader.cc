#include "server/shader/shader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>

#include "kernels/kir/eval/machine.h"
#include "kernels/spirv/read.h"
#include "server/shader/text.h"
#include "server/shader/values.h"

namespace kenaz::shader {
namespace {

using device::InterpreterOptions;
using device::interpreter::LaunchObserver;
using spirv::Input;
using spirv::ReadKernel;

constexpr int kConcurrentGroups = 4;

/// A buffer that the user gives.
struct Buffer {
  Target target;
  uint64_t address = 0, bytes = 0;
  bool used = false;
};

Result<std::vector<uint32_t>> words_of(const std::string& path) {
  KENAZ_ASSIGN(const Bytes file, bytes_of("file:" + path));
  if (file.data.size() % sizeof(uint32_t) != 0) {
    return bad_request(fmt::format("{} is no SPIR-V: {} bytes", path, file.data.size()));
  }
  std::vector<uint32_t> words(file.data.size() / sizeof(uint32_t));
  if (!words.empty()) std::memcpy(words.data(), file.data.data(), file.data.size());
  return words;
}

/// Once with the constants' types guessed, and then as they are.
Result<ReadKernel> read_shader(const Command& command, const std::vector<uint32_t>& words) {
  const std::string name = std::filesystem::path(command.file).stem().string();
  std::map<uint32_t, ReadKernel::SpecConstant> known;
  spirv::ReadOptions options{.name = name, .entry = command.entry};
  KENAZ_ASSIGN(options.specialised, specialised(command.spec, known));
  KENAZ_ASSIGN(ReadKernel read, spirv::read(words, options));
  for (const auto& [id, bits] : options.specialised) {
    if (!read.spec_constants.contains(id)) {
      return bad_request(
          fmt::format("--spec {}: the shader has no such constant; {}", id, constants_text(read)));
    }
  }
  if (command.spec.empty()) return read;
  KENAZ_ASSIGN(options.specialised, specialised(command.spec, read.spec_constants));
  return spirv::read(words, options);
}

/// One run of one shader.
class Run {
 public:
  Run(const Command& command, const InterpreterOptions& device, ReadKernel read)
      : command_(command), device_(device), read_(std::move(read)) {}

  Result<Observed> run(const SourceReader& files) {
    KENAZ_ASSIGN(dispatch_, dispatch_of(command_.dispatch));
    KENAZ_TRY(allocate());
    KENAZ_ASSIGN(const std::vector<std::byte> push, push_constants());
    KENAZ_ASSIGN(const std::vector<PrimValue> args, arguments(push));
    Observed out;
    for (const Buffer& b : buffers_) {
      if (b.used) continue;
      out.notes += fmt::format("the shader does not use buffer {}\n", text_of(b.target));
    }
    const SourceText texts(read_, command_.file, files);
    out.read = texts.reader();
    KENAZ_TRY(launch(args, texts.places(), out));
    KENAZ_TRY(write_files(out));
    return out;
  }

 private:
  Status allocate() {
    for (const std::string& text : command_.buffers) {
      KENAZ_ASSIGN(const Assigned a, assigned(text, "--buffer"));
      const bool twice = std::any_of(buffers_.begin(), buffers_.end(),
                                     [&](const Buffer& b) { return b.target == a.target; });
      if (twice) return bad_request(fmt::format("--buffer {}: it is given twice", text));
      const auto bytes = bytes_of(a.rest, addresses_);
      if (!bytes) return bad_request(fmt::format("--buffer {}: {}", text, bytes.error().message));
      Buffer b{a.target, 0, bytes->data.size()};
      b.address = bytes->defined ? memory_.allocate(bytes->data)
                                 : memory_.allocate_zeros(bytes->data.size());
      if (!a.target.name.empty()) addresses_[a.target.name] = b.address;
      buffers_.push_back(std::move(b));
    }
    return {};
  }

  Result<std::vector<std::byte>> push_constants() {
    std::vector<std::byte> out;
    for (const std::string& text : command_.push) {
      const auto bytes = bytes_of(text, addresses_);
      if (!bytes) return bad_request(fmt::format("--push {}: {}", text, bytes.error().message));
      for (Buffer& b : buffers_) {
        const bool named = text.find('&' + b.target.name) != std::string::npos;
        b.used = b.used || (!b.target.name.empty() && named);
      }
      out.resize((out.size() + bytes->align - 1) / bytes->align * bytes->align);
      out.insert(out.end(), bytes->data.begin(), bytes->data.end());
    }
    return out;
  }

  /// By its number, or by its name in the shader; null if it is not given.
  Buffer* buffer_of(const Input& input) {
    std::string name;
    for (size_t k = 0; k < read_.inputs.size(); ++k) {
      const Input& other = read_.inputs[k];
      const bool same = other.set == input.set && other.number == input.number;
      if (other.kind == Input::kBuffer && same) name = read_.kernel.args[k].name;
    }
    for (Buffer& b : buffers_) {
      const bool by_number =
          b.target.name.empty() && b.target.set == input.set && b.target.binding == input.number;
      if (!by_number && (b.target.name.empty() || b.target.name != name)) continue;
      b.used = true;
      return &b;
    }
    return nullptr;
  }

  Result<std::vector<PrimValue>> arguments(const std::vector<std::byte>& push) {
    std::vector<PrimValue> out;
    for (size_t k = 0; k < read_.inputs.size(); ++k) {
      const Input& input = read_.inputs[k];
      const PrimType type = read_.kernel.vals[read_.kernel.args[k].val.index].prim;
      const auto size = static_cast<size_t>(prim_size(type));
      uint64_t bits = 0;
      if (input.kind == Input::kGroups) {
        bits = dispatch_[std::min(input.number, 2U)];
      } else if (input.kind == Input::kPush) {
        if (push.size() < size || input.number > push.size() - size) {
          return bad_request(fmt::format(
              "the shader reads push constants of {} bytes at byte {}: --push gives {} bytes", size,
              input.number, push.size()));
        }
        std::memcpy(&bits, push.data() + input.number, size);
      } else if (const Buffer* b = buffer_of(input)) {
        bits = input.kind == Input::kBytes ? b->bytes : b->address;
      } else {
        return bad_request(fmt::format("the shader uses buffer {},{}: give it by --buffer; {}",
                                       input.set, input.number, buffers_text(read_)));
      }
      out.push_back({type, bits});
    }
    return out;
  }

  kir::RunOptions run_options() const {
    kir::RunOptions options;
    options.subgroup_size = device_.subgroup_size;
    options.seed = device_.seed;
    options.concurrent_groups = kConcurrentGroups;
    options.most_groups = device_.groups;
    options.groups_seed = device_.seed;
    options.equal_stores_race = false;
    options.max_steps = INT64_MAX / 2;
    return options;
  }

  Status launch(const std::vector<PrimValue>& args, const std::vector<std::string>& places,
                Observed& out) {
    out.seen.subgroup_size = device_.subgroup_size;
    for (const Buffer& b : buffers_)
      out.seen.unread.begin(b.address, static_cast<int64_t>(b.bytes));
    LaunchObserver observer(read_.kernel, out.seen);
    int64_t groups = 1;
    for (const uint32_t n : dispatch_) groups *= n;
    std::optional<kir::Fault> fault;
    const auto ran =
        kir::run(read_.kernel, memory_, args, groups, run_options(), &observer, &fault);
    if (!ran && !fault) return tl::make_unexpected(ran.error());
    for (const Buffer& b : buffers_) out.seen.unread.keep(b.address);  // results, all of them
    out.seen.add(read_.kernel, places, {groups, observer.ended()}, observer);
    out.seen.broken_off = fault.has_value();
    if (fault) out.fault = {ErrorKind::kProgramFailure, fault_text(*fault, places), {}};
    return {};
  }

  Status write_files(Observed& out) {
    for (const std::string& text : command_.out) {
      KENAZ_ASSIGN(const Assigned a, assigned(text, "--out"));
      const auto found = std::find_if(buffers_.begin(), buffers_.end(),
                                      [&](const Buffer& b) { return b.target == a.target; });
      if (found == buffers_.end()) {
        return bad_request(fmt::format("--out {}: there is no such --buffer", text));
      }
      const std::span<const std::byte> bytes = memory_.bytes(found->address);
      if (!memory_.defined(found->address, bytes.size())) {
        out.notes += fmt::format("nobody has written all of buffer {}: it has zeros there\n",
                                 text_of(a.target));
      }
      std::ofstream file{std::string(a.rest), std::ios::binary};
      file.write(reinterpret_cast<const char*>(bytes.data()),
                 static_cast<std::streamsize>(bytes.size()));
      file.close();
      if (!file) return bad_request(fmt::format("--out {}: it cannot be written", text));
    }
    return {};
  }

  const Command& command_;
  const InterpreterOptions& device_;
  const ReadKernel read_;
  std::vector<uint32_t> dispatch_;  // X, Y, Z
  kir::Memory memory_;
  std::vector<Buffer> buffers_;
  Addresses addresses_;
};

}  // namespace

Result<Observed> observe(const Command& command, const InterpreterOptions& device,
                         const SourceReader& read) {
  if (device.groups > 0 && !command.out.empty()) {
    return bad_request("--out needs all workgroups: it cannot be used with --groups");
  }
  KENAZ_ASSIGN(const std::vector<uint32_t> words, words_of(command.file));
  KENAZ_ASSIGN(ReadKernel shader, read_shader(command, words));
  return Run(command, device, std::move(shader)).run(read);
}

}  // namespace kenaz::shader
