// libFuzzer: any text as a template and as its own partial; what stands behind the last NUL is the value of
// its names. A value changes no line of what is written.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "render/templates/template.hpp"

namespace {

using namespace cudamatrix::mustache;

Data model_with(const std::string& value) {
    const Data::Object inner{{"a", value}, {"b", false}, {"l", Data::List{value, value}}};
    return Data::Object{
        {"a", value}, {"b", true}, {"l", Data::List{inner, inner}}, {"e", Data::List{}}, {"o", inner}};
}

cudamatrix::Result<std::string> fill(const std::string& text, const std::string& value,
                                     Watch* watch = nullptr) {
    Library library;
    library.add("t/main.mustache", text, "main.mustache");
    library.add("t/partials/p.mustache", text, "partials/p.mustache");
    library.set_watch(watch);
    return library.fill("t/main.mustache", model_with(value));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view input(reinterpret_cast<const char*>(data), size);
    const auto end = std::min(input.rfind('\0'), input.size());
    const std::string text(input.substr(0, end));
    const std::string value(input.substr(std::min(end + 1, size)));
    const auto lines = std::ranges::count(text, '\n') + 1;
    const auto filled = fill(text, value);
    if (filled.ok()) {
        const auto plain = fill(text, "1");
        if (plain.ok() && std::ranges::count(*plain, '\n') != std::ranges::count(*filled, '\n')) std::abort();
    } else {
        if (filled.failure().diagnostics.empty()) std::abort();
        for (const auto& mistake : filled.failure().diagnostics) {
            if (mistake.message.empty() || mistake.where.line == 0 ||
                mistake.where.line > static_cast<std::size_t>(lines))
                std::abort();
        }
    }
    Watch watch;
    watch.check = true;
    watch.origins = true;
    static_cast<void>(fill(text, value, &watch));
    return 0;
}
