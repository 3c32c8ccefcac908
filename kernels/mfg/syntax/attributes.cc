#include <fmt/format.h>

#include "kernels/mfg/syntax/parser_impl.h"

namespace kenaz::mfg {

void Parser::attribute(Filter& filter) {
  const SourceRange begin = next().range;
  const Name what = name("an attribute's name");
  if (what.text == "title") {
    filter.title = text();
  } else if (what.text == "version") {
    filter.version = text();
  } else if (what.text == "bounds") {
    SourceRange range;
    std::vector<ExpPtr> sizes = bounds(range);
    TensorDef d = definition();
    d.bounds = std::move(sizes);
    d.bounds_range = range;
    filter.items.push_back({since(begin), std::move(d)});
  } else if (what.text == "print_expr") {
    expect("(");
    Print p{expression()};
    expect(")");
    filter.items.push_back({since(begin), std::move(p)});
  } else if (what.text.starts_with("param_")) {
    Widget w = widget(what);
    filter.items.push_back({since(begin), std::move(w)});
  } else {
    reject(what.range, fmt::format("There is no attribute @{}; there are @title, @version, "
                                   "@bounds, @print_expr and @param_TYPE.",
                                   what.text));
  }
  end_of_line();
}

Text Parser::text() {
  const SourceRange begin = peek().range;
  if (accept("$")) {
    std::string of = name("the name of a text").text;
    return {std::move(of), true, since(begin)};
  }
  return {string(), false, begin};
}

std::string Parser::string() {
  if (peek().kind != Tok::kString) unexpected("a string");
  return next().text;
}

Widget Parser::widget(Name type) {
  Widget w;
  w.type = std::move(type);
  w.name = name("the parameter's name");
  expect("(");
  w.kind = name("a widget, such as SLIDER");
  while (!accept(")")) {
    expect(",");
    widget_argument(w);
  }
  return w;
}

std::vector<PrimValue> Parser::numbers() {
  if (!at("[")) return {signed_number()};
  next();
  std::vector<PrimValue> list;
  while (!accept("]")) {
    list.push_back(signed_number());
    if (!at("]")) expect(",");
  }
  return list;
}

void Parser::widget_argument(Widget& w) {
  const Name key = name("an argument, such as label=\"..\"");
  expect("=");
  const SourceRange begin = peek().range;
  if (key.text == "label") {
    w.label = text();
  } else if (key.text == "items") {
    expect("[");
    while (!accept("]")) {
      w.items.push_back(text());
      if (!at("]")) expect(",");
    }
  } else if (key.text == "init") {
    w.init = numbers();
    w.init_range = since(begin);
  } else if (key.text == "min") {
    w.min = numbers();
    w.min_range = since(begin);
  } else if (key.text == "max") {
    w.max = numbers();
    w.max_range = since(begin);
  } else {
    reject(key.range,
           fmt::format("A parameter has label, init, min, max and items, but no {}.", key.text));
  }
}

}  // namespace kenaz::mfg
