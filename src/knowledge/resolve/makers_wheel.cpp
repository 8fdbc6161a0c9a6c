#include "knowledge/resolve/makers_wheel.hpp"

#include <algorithm>
#include <cctype>

#include "base/text.hpp"

namespace cudamatrix::rules {
namespace {

// What follows `mark`, as far as it is made of `chars`; empty where the mark is not there.
std::string after(const std::string& text, std::string_view mark, std::string_view chars) {
    const auto at = text.find(mark);
    if (at == std::string::npos) return {};
    const auto begin = at + mark.size();
    const auto end = text.find_first_not_of(chars, begin);
    auto out = text.substr(begin, end == std::string::npos ? end : end - begin);
    while (!out.empty() && out.back() == '.')
        out.pop_back();
    return out;
}

std::optional<bool> named_abi(const std::string& local) {
    if (local.find("cxx11abitrue") != std::string::npos) return true;
    if (local.find("cxx11abifalse") != std::string::npos) return false;
    return std::nullopt;
}

constexpr std::string_view kDigits = "0123456789", kVersion = "0123456789.";

}  // namespace

std::optional<MakersWheel> makers_wheel(const Package& package) {
    const auto plus = package.text.find('+');
    if (plus == std::string::npos) return std::nullopt;
    auto local = package.text.substr(plus + 1);
    std::transform(local.begin(), local.end(), local.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    MakersWheel out{after(local, "torch", kVersion), after(local, "cu", kDigits), named_abi(local)};
    if (out.torch.empty()) {
        const auto digits = after(local, "pt", kDigits);  // pt26, pt210
        if (digits.size() > 1) out.torch = fmt::format("{}.{}", digits.front(), digits.substr(1));
    }
    const auto torch = Version::parse(out.torch);
    if (!torch || torch->size() < 2) return std::nullopt;
    return out;
}

std::optional<TorchAbi> torch_abi(const Facts& facts, const TorchBuild& build) {
    const auto& wheel = build.torch.wheel;
    if (wheel && wheel->has("cxx11_abi")) return TorchAbi{wheel->text("cxx11_abi") == "true", wheel->ref()};
    if (build.arch != "x86_64") return std::nullopt;
    const auto last_old = facts.row("policy-torch-old-abi"), first_new = facts.row("policy-torch-cxx11-abi");
    if (last_old && build.torch.exact < lookup::required_version(*last_old, "since"))
        return TorchAbi{false, last_old->ref()};
    if (first_new && build.torch.exact >= lookup::required_version(*first_new, "since"))
        return TorchAbi{true, first_new->ref()};
    return std::nullopt;
}

std::string_view abi_text(bool cxx11) {
    return cxx11 ? "the new C++ ABI" : "the old C++ ABI";
}

}  // namespace cudamatrix::rules
