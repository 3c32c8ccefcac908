// Options of the command line, declared to CLI11 only where they may be given.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace kenaz {

/// Declares what CLI11 declares, by its names. To declare all of the server's options takes 0.4 ms,
/// as CLI11 compares each with all before it, which is a hundredth of the server's start: so first
/// only those are declared of which a name stands among the arguments. If they parse, they mean
/// what they would mean beside all others; if not, all must be declared, to say what is wrong.
class Declarer {
 public:
  /// All of them.
  explicit Declarer(CLI::App& app) : app_(app) {}
  /// Positional ones, and those of which a name is in `args`. An abbreviation is no name.
  Declarer(CLI::App& app, const std::vector<std::string>& args) : app_(app), all_(false) {
    for (const std::string_view arg : args) {
      const bool is_long = arg.starts_with("--");
      if (arg.starts_with("-"))
        given_.push_back(is_long ? arg.substr(0, arg.find('=')) : arg.substr(0, 2));
    }
  }

  template <class T>
  CLI::Option* add_option(const char* names, T& variable, const char* text) {
    return may_be_given(names) ? app_.add_option(names, variable, text) : nothing_;
  }
  template <class T>
  CLI::Option* add_flag(const char* names, T& variable, const char* text) {
    return may_be_given(names) ? app_.add_flag(names, variable, text) : nothing_;
  }
  template <class F>
  CLI::Option* add_flag_callback(const char* names, F callback, const char* text) {
    return may_be_given(names) ? app_.add_flag_callback(names, callback, text) : nothing_;
  }

 private:
  /// `names`: "-d,--device".
  bool may_be_given(std::string_view names) const {
    if (all_ || !names.starts_with("-")) return true;
    while (true) {
      const size_t end = names.find(',');
      const std::string_view name = names.substr(0, end);
      for (const std::string_view given : given_) {
        if (given == name) return true;
      }
      if (end == std::string_view::npos) return false;
      names.remove_prefix(end + 1);
    }
  }

  CLI::App& app_;
  bool all_ = true;
  std::vector<std::string_view> given_;
  CLI::App nobody_;  // whose option stands for those that are not declared
  CLI::Option* nothing_ = nobody_.add_flag("--nothing");
};

}  // namespace kenaz
