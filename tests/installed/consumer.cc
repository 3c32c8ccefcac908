// consumer SERVER PROG.fut: the squares of three numbers, computed by a server that this starts.
#include <client/lib/client.h>

#include <cstdio>

namespace {

kenaz::Result<kenaz::client::Array<double>> squares(const char* server, const char* program) {
  using kenaz::client::Client;
  kenaz::client::ServerOptions options;
  options.server = server;
  options.program = program;
  options.reference = true;
  KENAZ_ASSIGN(Client client, Client::start(options, kenaz::client::deadline_in(60)));
  const std::vector<double> xs{1, 2, 3};
  KENAZ_TRY(client.put<double>("xs", xs, {3}));
  KENAZ_TRY(client.call("squares", "ys", {"xs"}));
  return client.get<double>("ys");
}

}  // namespace

int main(int, char** argv) {
  const auto ys = squares(argv[1], argv[2]);
  if (!ys) {
    std::fprintf(stderr, "%s\n", ys.error().text().c_str());
    return 1;
  }
  for (const double y : ys->values) std::printf("%g ", y);
  std::printf("\n");
  return 0;
}
