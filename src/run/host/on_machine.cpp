#include "run/host/host.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "knowledge/facts/lookup.hpp"
#include "matrix/matrix.hpp"
#include "matrix/value.hpp"

namespace cudamatrix::probe {
namespace {

using report::HostInfo;

Location place_of(std::string_view from) {
    return {fmt::format("this machine ({})", from), 0, 0, 1};
}

// The joint values of the machine: a row for each different GPU.
class Rows {
  public:
    explicit Rows(std::size_t count) : rows_(std::max<std::size_t>(1, count)) {}

    /// `texts` has a value for each row, or one for all. False when one of them is no value of the field.
    bool add(Field field, const std::vector<std::string>& texts, std::string_view from) {
        std::vector<Value> values;
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            auto parsed = value_from_text(field, texts.size() == 1 ? texts.front() : texts[i]);
            if (std::holds_alternative<ValueProblem>(parsed)) return false;
            values.push_back(std::get<Value>(std::move(parsed)));
            values.back().where = place_of(from);
        }
        fields_.push_back(field);
        for (std::size_t i = 0; i < rows_.size(); ++i)
            rows_[i].push_back(std::move(values[i]));
        return true;
    }

    [[nodiscard]] const std::vector<Field>& fields() const { return fields_; }
    [[nodiscard]] const std::vector<std::vector<Value>>& rows() const { return rows_; }

  private:
    std::vector<Field> fields_;
    std::vector<std::vector<Value>> rows_;
};

// A GPU in the words of the facts, once for each different one.
struct Model {
    std::string name;
    std::string compute;  ///< as the driver says it, else as the facts do
    bool known = false;
    bool mig = false;
    std::size_t count = 0;

    [[nodiscard]] bool same(const Model& other) const {
        return name == other.name && compute == other.compute && mig == other.mig;
    }
};

std::vector<Model> models_of(const Host& host, const Facts& facts) {
    std::vector<Model> models;
    for (const auto& gpu : host.gpus) {
        Model model{gpu.name, gpu.compute, false, gpu.mig, 1};
        if (const auto row = lookup::gpu(facts, gpu.name)) {
            model.name = row->text("name");
            model.known = true;
            if (model.compute.empty()) model.compute = row->text("compute");
        }
        const auto seen = std::ranges::find_if(models, [&](const Model& other) { return other.same(model); });
        if (seen == models.end()) {
            models.push_back(std::move(model));
        } else {
            ++seen->count;
        }
    }
    return models;
}

std::string models_text(const std::vector<Model>& models) {
    std::vector<std::string> parts;
    for (const auto& model : models) {
        parts.push_back(fmt::format("{}{}{}{}", model.count > 1 ? fmt::format("{} x ", model.count) : "",
                                    model.name, model.known ? "" : " (no fact knows it)",
                                    model.mig ? " with MIG on" : ""));
    }
    return text::join(parts, ", ");
}

class HostValues {
  public:
    HostValues(const Matrix& matrix, const Host& host, const Facts& facts)
        : matrix_(matrix),
          host_(host),
          facts_(facts),
          models_(models_of(host, facts)),
          rows_(models_.size()) {}

    OnMachine apply() {
        add(Field::driver, host_.driver);
        add_gpus();
        add(Field::kernel_module, host_.kernel_module);
        add(Field::toolkit, host_.toolkit);
        add(Field::arch, host_.arch);
        // Cells that name no image run on the machine itself.
        const bool bare =
            !names(Field::os) && !names(Field::glibc) && !names(Field::family) && !names(Field::image);
        add(Field::os, host_.os, bare && host_.os && lookup::os(facts_, host_.os->value).has_value());
        add(Field::glibc, host_.glibc, bare);
        info_.notes.insert(info_.notes.begin(), host_.notes.begin(), host_.notes.end());
        auto changed = with_rows(matrix_, rows_.fields(), rows_.rows(), implied());
        if (count_cells(changed, 1'000'000) == std::uint64_t{0})
            info_.notes.emplace_back(
                "no cell of the matrix is left: its excludes cover all that this machine could run");
        return {std::move(changed), std::move(info_)};
    }

  private:
    [[nodiscard]] bool names(Field field) const { return matrix_.named.contains(field); }

    [[nodiscard]] std::string why_missing(std::string_view what) const {
        for (const auto& missing : host_.missing) {
            if (missing.what == what) return missing.why;
        }
        return "nothing says it";
    }

    void add(Field field, const std::optional<Found>& found, bool use = true) {
        const std::string name(info(field).name);
        if (!found) {
            info_.lines.push_back({name, {}, why_missing(name), false});
        } else if (!use) {
            info_.lines.push_back({name, found->value, found->from, false});
        } else if (rows_.add(field, {found->value}, found->from)) {
            info_.lines.push_back({name, found->value, found->from, true});
        } else {
            info_.lines.push_back(
                {name,
                 {},
                 fmt::format("{} says {}: expected {}", found->from, found->value, info(field).accepts),
                 false});
        }
    }

    void add_gpus() {
        if (models_.empty()) {
            info_.lines.push_back({"gpu", {}, why_missing("gpu"), false});
            return;
        }
        std::vector<std::string> gpus, computes;
        bool all_known = true, all_compute = true;
        for (const auto& model : models_) {
            gpus.push_back(model.name);
            computes.push_back(model.compute);
            all_known = all_known && model.known;
            all_compute = all_compute && !model.compute.empty();
        }
        if (!rows_.add(Field::gpu, gpus, host_.gpus_from)) {
            info_.lines.push_back(
                {"gpu", {}, fmt::format("{} gives a name that no GPU has", host_.gpus_from), false});
            return;
        }
        has_gpus_ = true;
        info_.lines.push_back({"gpu", models_text(models_), host_.gpus_from, true});
        // The name says it all where the facts know it.
        if (all_compute && (!all_known || names(Field::compute)) &&
            rows_.add(Field::compute, computes, host_.gpus_from))
            info_.lines.push_back({"compute", text::join(computes, ", "), host_.gpus_from, true});
        add_mig();
    }

    void add_mig() {
        const auto on = std::ranges::count_if(models_, [](const Model& model) { return model.mig; });
        if (on == 0 || names(Field::mig)) return;
        if (static_cast<std::size_t>(on) != models_.size()) {
            info_.notes.emplace_back("MIG mode is on for some GPUs only: it is not judged");
        } else if (rows_.add(Field::mig, {"1"}, host_.gpus_from)) {
            info_.lines.push_back({"mig", "1", host_.gpus_from, true});
        }
    }

    // The class and the compute capability follow from the GPUs of this machine, whatever the file says of
    // others.
    [[nodiscard]] std::vector<Field> implied() const {
        if (!has_gpus_) return {};
        return {Field::compute, Field::host_class};
    }

    const Matrix& matrix_;
    const Host& host_;
    const Facts& facts_;
    std::vector<Model> models_;
    Rows rows_;
    HostInfo info_;
    bool has_gpus_ = false;
};

}  // namespace

Result<OnMachine> on_machine(const Matrix& matrix, const Host& host, const Facts& facts) {
    if (!host.driver && host.gpus.empty()) {
        auto failure = environment_failure(
            "--host: this machine shows neither a driver nor a GPU, so there is nothing to judge against",
            "run it where the driver is loaded, or say what the machine has: --override driver=... "
            "--override gpu=...");
        for (const auto& missing : host.missing)
            failure.diagnostics.front().notes.push_back(fmt::format("{}: {}", missing.what, missing.why));
        return failure;
    }
    return HostValues(matrix, host, facts).apply();
}

}  // namespace cudamatrix::probe
