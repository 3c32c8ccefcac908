#include "server/shader/options.h"

namespace kenaz::shader {

void declare(Declarer& app, Command& command) {
  app.add_option("--shader", command.file,
                 "Run this compute shader (SPIR-V) on the interpreter, once, and print what it "
                 "does to memory")
      ->type_name("FILE");
  const auto several = [&](const char* name, std::vector<std::string>& values, const char* type,
                           const char* text) {
    app.add_option(name, values, text)->type_name(type)->allow_extra_args(false);
  };
  several("--buffer", command.buffers, "SET,BINDING=BYTES",
          "With --shader: a buffer, by number or NAME=. BYTES: a file, zeros:N, undefined:N, "
          "iota:TYPE:N, random:TYPE:N[:SEED] or TYPE:V,V,..");
  several("--push", command.push, "BYTES",
          "With --shader: push constants, as --buffer has them; u64:&NAME is a buffer's address");
  several("--spec", command.spec, "ID=VALUE", "With --shader: a specialisation constant");
  several("--out", command.out, "SET,BINDING=FILE",
          "With --shader: write this buffer to a file in the end");
  app.add_option("--dispatch", command.dispatch, "With --shader: how many workgroups")
      ->type_name("X[,Y[,Z]]")
      ->capture_default_str();
  app.add_option("--entry", command.entry, "With --shader: which one of several in the file")
      ->type_name("NAME");
}

}  // namespace kenaz::shader
