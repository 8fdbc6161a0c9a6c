#include <algorithm>
#include <array>

#include "advise/audit/parts.hpp"
#include "base/text.hpp"
#include "matrix/value.hpp"

namespace cudamatrix::audit {
namespace {

// Variables that rules read.
constexpr std::array<std::string_view, 6> kRead{"NVIDIA_DISABLE_REQUIRE", "NVIDIA_DRIVER_CAPABILITIES",
                                                "NVIDIA_REQUIRE_CUDA",    "NVIDIA_VISIBLE_DEVICES",
                                                "PYTORCH_ALLOC_CONF",     "PYTORCH_CUDA_ALLOC_CONF"};

class CellMaker {
  public:
    CellMaker(const Held& held, const FoldContext& context, Holds& out)
        : held_(held), context_(context), out_(out) {}

    void make() {
        // Who installs the CPU build wants no GPU there.
        const bool wants_gpu = !held_.torch || !held_.torch->text.ends_with("+cpu");
        for (const auto& [field, value] : context_.options.machine) {
            if (field != Field::arch && wants_gpu) out_.values.emplace_back(field, value);
        }
        image();
        if (held_.torch) set(Field::torch, held_.torch->text, held_.torch->where);
        set(Field::python, held_.python.text, held_.python.where);
        if (held_.toolkit && !held_.base.cuda) set(Field::cuda, held_.toolkit->text, held_.toolkit->where);
        if (held_.cudnn && !held_.base.cuda) set(Field::cudnn, held_.cudnn->text, held_.cudnn->where);
        if (held_.compiler) set(Field::compiler, held_.compiler->text, held_.compiler->where);
        if (held_.compat) set(Field::cuda_compat, held_.compat->text, held_.compat->where);
        if (held_.arch_is_written || held_.arch != "x86_64") set(Field::arch, held_.arch, held_.image.where);
        set_map(Field::packages, held_.packages);
        set_map(Field::env, variables());
        architectures();
        const bool has_nvcc = held_.image.text.find("-devel") != std::string::npos || held_.toolkit;
        out_.compiles = !held_.gencode.empty() || has_list() || (held_.compiler_is_named && has_nvcc);
        settle();
        places();
        if (held_.packages_without_facts != 0) {
            out_.skipped.push_back({{context_.source.path, 0, 0, 1},
                                    text::count(held_.packages_without_facts, "pinned package"),
                                    fmt::format("no fact describes {}; --look looks into the wheels",
                                                held_.packages_without_facts == 1 ? "it" : "them")});
        }
    }

  private:
    void image() {
        const auto& base = held_.base;
        const auto& [text, where, quoted] = held_.image;
        if (text.empty()) return;
        const bool all = context_.options.all_packages;
        // What pip put in the place of the image's own torch is no longer the image's.
        const bool replaced = held_.torch && base.own_torch &&
                              (base.torch.empty() || !held_.torch->text.starts_with(base.torch));
        if (!replaced && (base.known || all)) set(Field::image, text, where);
        if (!base.known && !base.told && !all)
            out_.skipped.push_back({where, text::printable(text),
                                    base.jetson ? "no fact describes images for Jetson"
                                                : "no fact describes the image; --look asks its registry"});
        set(Field::os, base.os, where);
    }

    void set(Field field, const std::string& text, const Location& where) {
        if (text.empty()) return;
        auto value = value_from_text(field, text);
        if (auto* made = std::get_if<Value>(&value)) {
            made->where = where;
            out_.values.emplace_back(field, std::move(*made));
        }
    }

    void set_map(Field field, const std::map<std::string, Chosen>& members) {
        if (members.empty()) return;
        Value value;
        for (const auto& [name, chosen] : members)
            value.items.emplace_back(name, chosen.text);
        value.where = members.begin()->second.where;
        set_text_from_items(value, Syntax::string_map);
        out_.values.emplace_back(field, std::move(value));
    }

    [[nodiscard]] std::map<std::string, Chosen> variables() const {
        std::map<std::string, Chosen> out;
        for (const auto name : kRead) {
            const auto found = held_.variables.find(std::string(name));
            if (found == held_.variables.end() || found->second.is_open() ||
                check_member(Field::env, name, found->second.text))
                continue;
            out[std::string(name)] = {found->second.text, found->second.where};
        }
        return out;
    }

    [[nodiscard]] bool has_list() const {
        const auto list = held_.variables.find("TORCH_CUDA_ARCH_LIST");
        return list != held_.variables.end() && !list->second.is_open() &&
               !text::trim(list->second.text).empty();
    }

    // The list for torch's build helper, and what nvcc itself is told: two cells where there are both.
    void architectures() {
        if (has_list()) {
            const auto& list = held_.variables.at("TORCH_CUDA_ARCH_LIST");
            set(Field::arch_list, text::replace_all(text::trim(list.text), " ", ";"), list.where);
        }
        if (held_.gencode.empty()) return;
        auto value = value_from_text(Field::arch_list, text::join(held_.gencode, ";"));
        auto* made = std::get_if<Value>(&value);
        if (made == nullptr) return;
        made->where = held_.gencode_where;
        if (!held_.torch && !has_list()) {
            out_.values.emplace_back(Field::arch_list, std::move(*made));
            return;
        }
        static constexpr std::array kOfNvcc{Field::image, Field::os, Field::cuda, Field::gpu, Field::compute};
        for (const auto& [field, held] : out_.values) {
            if (std::ranges::find(kOfNvcc, field) != kOfNvcc.end()) out_.of_nvcc.emplace_back(field, held);
        }
        out_.of_nvcc.emplace_back(Field::arch_list, std::move(*made));
    }

    // Questions of rules that the files answer, and rules that are about what these images do not do.
    void settle() {
        const auto add = [&](std::string_view rule, std::string_view because) {
            out_.settled.push_back({std::string(rule), {}, std::string(because), "9999-12-31", {}});
        };
        if (!held_.into_system)
            add("pip-installs-into-image", "no plain pip writes into the python of the distribution");
        const bool computes = held_.torch || !held_.packages.empty() || !held_.gencode.empty() ||
                              held_.toolkit || held_.base.own_torch;
        if (!computes) add("driver-capabilities", "nothing in it is seen to use CUDA");
    }

    void places() {
        for (const auto& [name, install] : held_.installs) {
            const auto package = held_.packages.find(name);
            if (package != held_.packages.end()) out_.places[name] = {package->second.where, install};
            if (name == "torch" && held_.torch) out_.places[name] = {held_.torch->where, install};
        }
    }

    const Held& held_;
    const FoldContext& context_;
    Holds& out_;
};

}  // namespace

void make_cell(const Held& held, const FoldContext& context, Holds& out) {
    CellMaker(held, context, out).make();
}

}  // namespace cudamatrix::audit
