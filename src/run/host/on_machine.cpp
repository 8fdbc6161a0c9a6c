#include "run/host/host.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "knowledge/facts/lookup.hpp"
#include "matrix/matrix.hpp"
#include "matrix/value.hpp"

namespace cudamatrix::probe {
namespace {

using report::HostInfo;

// The joint values of the machines: a row for each different GPU of each.
class Rows {
  public:
    /// A value of each row, and where it stands.
    struct Text {
        std::string value, from;
    };

    explicit Rows(std::size_t count) : rows_(count) {}

    /// `texts` has one for each row. False when one of the texts is no value of the field.
    bool add(Field field, const std::vector<Text>& texts) {
        std::vector<Value> values;
        for (const auto& text : texts) {
            auto parsed = value_from_text(field, text.value);
            if (std::holds_alternative<ValueProblem>(parsed)) return false;
            values.push_back(std::get<Value>(std::move(parsed)));
            values.back().where = {text.from, 0, 0, 1};
        }
        for (std::size_t i = 0; i < rows_.size(); ++i)
            rows_[i].push_back(std::move(values[i]));
        fields_.push_back(field);
        return true;
    }

    [[nodiscard]] const std::vector<Field>& fields() const { return fields_; }
    /// Each different one once.
    [[nodiscard]] std::vector<std::vector<Value>> rows() const {
        std::vector<std::vector<Value>> out;
        for (const auto& row : rows_) {
            const bool is_new = std::ranges::none_of(out, [&](const std::vector<Value>& known) {
                return std::ranges::equal(known, row, {}, &Value::text, &Value::text);
            });
            if (is_new) out.push_back(row);
        }
        return out;
    }

  private:
    std::vector<Field> fields_;
    std::vector<std::vector<Value>> rows_;
};

// A GPU in the words of the facts, once for each different one of a machine.
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

std::string model_text(const Model& model) {
    return fmt::format("{}{}{}{}", model.count > 1 ? fmt::format("{} x ", model.count) : "", model.name,
                       model.known ? "" : " (no fact knows it)", model.mig ? " with MIG on" : "");
}

// What the machines give for one thing, each different value once, in their order. Of a fleet it says which
// machine has which.
class Values {
  public:
    explicit Values(bool is_fleet) : is_fleet_(is_fleet) {}

    void add(const std::string& value, const std::string& from, const std::string& machine) {
        auto seen = std::ranges::find(values_, value, &Each::value);
        if (seen == values_.end()) seen = values_.insert(seen, {value, {}});
        if (std::ranges::count(seen->machines, machine) == 0) seen->machines.push_back(machine);
        if (std::ranges::count(from_, from) == 0) from_.push_back(from);
    }
    [[nodiscard]] bool empty() const { return values_.empty(); }
    [[nodiscard]] std::string text() const {
        std::vector<std::string> parts;
        for (const auto& each : values_) {
            const auto who = each.machines.size() > kMostNamed
                                 ? fmt::format("{} machines", each.machines.size())
                                 : text::join(each.machines, ", ");
            parts.push_back(is_fleet_ ? fmt::format("{} ({})", each.value, who) : each.value);
        }
        return text::join(parts, ", ");
    }
    [[nodiscard]] std::string from() const { return text::join(from_, ", "); }

  private:
    static constexpr std::size_t kMostNamed = 4;

    struct Each {
        std::string value;
        std::vector<std::string> machines;
    };
    bool is_fleet_;
    std::vector<Each> values_;
    std::vector<std::string> from_;
};

class HostValues {
  public:
    HostValues(const Matrix& matrix, std::vector<const NamedHost*> hosts, bool is_fleet, const Facts& facts)
        : matrix_(matrix),
          hosts_(std::move(hosts)),
          is_fleet_(is_fleet),
          facts_(facts),
          machines_(machines_of(hosts_, facts)),
          rows_(machines_.size()),
          has_gpus_(!hosts_.front()->host.gpus.empty()) {}

    OnMachine apply(std::vector<std::string> notes) {
        info_.notes = std::move(notes);
        info_.who = is_fleet_ ? text::count(hosts_.size(), "machine") : hosts_.front()->name;
        add(Field::driver, &Host::driver);
        add_gpus();
        add(Field::kernel_module, &Host::kernel_module);
        add(Field::toolkit, &Host::toolkit);
        add(Field::arch, &Host::arch);
        // Cells that name no image run on the machine itself.
        const bool bare =
            !names(Field::os) && !names(Field::glibc) && !names(Field::family) && !names(Field::image);
        const bool known = std::ranges::all_of(hosts_, [&](const NamedHost* machine) {
            const auto& os = machine->host.os;
            return os && lookup::os(facts_, os->value).has_value();
        });
        add(Field::os, &Host::os, bare && known);
        add(Field::glibc, &Host::glibc, bare);
        for (const auto* machine : hosts_) {
            for (const auto& note : machine->host.notes)
                info_.notes.push_back(is_fleet_ ? fmt::format("{}: {}", machine->name, note) : note);
        }
        auto changed = with_rows(matrix_, rows_.fields(), rows_.rows(), implied());
        if (count_cells(changed, 1'000'000) == std::uint64_t{0})
            info_.notes.push_back(
                fmt::format("no cell of the matrix is left: its excludes cover all that {} could run",
                            is_fleet_ ? "these machines" : "this machine"));
        return {std::move(changed), std::move(info_)};
    }

  private:
    struct Machine {
        const NamedHost* on;
        Model model;
    };

    static std::vector<Machine> machines_of(const std::vector<const NamedHost*>& hosts, const Facts& facts) {
        std::vector<Machine> out;
        for (const auto* host : hosts) {
            auto models = models_of(host->host, facts);
            if (models.empty()) models.emplace_back();
            for (auto& model : models)
                out.push_back({host, std::move(model)});
        }
        return out;
    }

    [[nodiscard]] bool names(Field field) const { return matrix_.named.contains(field); }

    [[nodiscard]] static std::string place_of(const NamedHost& machine, std::string_view from) {
        return fmt::format("{} ({})", machine.name, from);
    }

    // Which of the machines do not say it, and why.
    [[nodiscard]] std::string why_missing(std::string_view what) const {
        for (const auto* machine : hosts_) {
            if (const auto why = machine->host.why_no(what); !why.empty())
                return is_fleet_ ? fmt::format("{}: {}", machine->name, why) : why;
        }
        return "nothing says it";
    }

    void add(Field field, const std::optional<Found> Host::*member, bool use = true) {
        const std::string name(info(field).name);
        Values values(is_fleet_);
        std::vector<Rows::Text> texts;
        bool all = true;
        for (const auto& machine : machines_) {
            const auto& found = machine.on->host.*member;
            all = all && found;
            if (!found) continue;
            values.add(found->value, found->from, machine.on->name);
            texts.push_back({found->value, place_of(*machine.on, found->from)});
        }
        if (values.empty() || !all) {
            info_.lines.push_back({name, {}, why_missing(name), false});
        } else if (!use) {
            info_.lines.push_back({name, values.text(), values.from(), false});
        } else if (rows_.add(field, texts)) {
            info_.lines.push_back({name, values.text(), values.from(), true});
        } else {
            info_.lines.push_back(
                {name,
                 {},
                 fmt::format("{} says {}: expected {}", values.from(), values.text(), info(field).accepts),
                 false});
        }
    }

    // Of each row what `text` makes of its GPU.
    template <class Text>
    [[nodiscard]] std::vector<Rows::Text> of_gpus(const Text& text) const {
        std::vector<Rows::Text> texts;
        for (const auto& machine : machines_)
            texts.push_back({text(machine.model), place_of(*machine.on, machine.on->host.gpus_from)});
        return texts;
    }

    void add_gpus() {
        if (!has_gpus_) {
            info_.lines.push_back({"gpu", {}, why_missing("gpu"), false});
            return;
        }
        Values shown(is_fleet_), computes(is_fleet_);
        bool all_known = true, all_compute = true;
        for (const auto& machine : machines_) {
            const auto& from = machine.on->host.gpus_from;
            shown.add(model_text(machine.model), from, machine.on->name);
            computes.add(machine.model.compute, from, machine.on->name);
            all_known = all_known && machine.model.known;
            all_compute = all_compute && !machine.model.compute.empty();
        }
        if (!rows_.add(Field::gpu, of_gpus([](const Model& model) { return model.name; }))) {
            info_.lines.push_back(
                {"gpu", {}, fmt::format("{} gives a name that no GPU has", shown.from()), false});
            has_gpus_ = false;
            return;
        }
        info_.lines.push_back({"gpu", shown.text(), shown.from(), true});
        // The name says it all where the facts know it.
        if (all_compute && (!all_known || names(Field::compute)) &&
            rows_.add(Field::compute, of_gpus([](const Model& model) { return model.compute; })))
            info_.lines.push_back({"compute", computes.text(), computes.from(), true});
        add_mig(shown.from());
    }

    void add_mig(const std::string& from) {
        const auto on =
            std::ranges::count_if(machines_, [](const Machine& machine) { return machine.model.mig; });
        if (on == 0 || names(Field::mig)) return;
        if (static_cast<std::size_t>(on) != machines_.size()) {
            info_.notes.emplace_back("MIG mode is on for some GPUs only: it is not judged");
        } else if (rows_.add(Field::mig, of_gpus([](const Model&) { return std::string("1"); }))) {
            info_.lines.push_back({"mig", "1", from, true});
        }
    }

    // The class and the compute capability follow from the GPUs of the machines, whatever the file says of
    // others.
    [[nodiscard]] std::vector<Field> implied() const {
        if (!has_gpus_) return {};
        return {Field::compute, Field::host_class};
    }

    const Matrix& matrix_;
    std::vector<const NamedHost*> hosts_;
    bool is_fleet_;
    const Facts& facts_;
    std::vector<Machine> machines_;  ///< a row for each
    Rows rows_;
    HostInfo info_;
    bool has_gpus_;
};

}  // namespace

Result<OnMachine> on_machines(const Matrix& matrix, const std::vector<NamedHost>& hosts, const Facts& facts) {
    const bool is_fleet = hosts.size() > 1;
    const bool any_gpu =
        std::ranges::any_of(hosts, [](const NamedHost& machine) { return !machine.host.gpus.empty(); });
    std::vector<const NamedHost*> used;
    std::vector<std::string> notes;
    for (const auto& machine : hosts) {
        if (!machine.host.gpus.empty() || (machine.host.driver && !any_gpu)) {
            used.push_back(&machine);
        } else {
            notes.push_back(fmt::format("{} is left out: it shows {}", machine.name,
                                        machine.host.driver ? "no GPU" : "neither a driver nor a GPU"));
        }
    }
    if (used.empty()) {
        const auto who = is_fleet ? fmt::format("none of {} machines shows a driver or a GPU", hosts.size())
                                  : fmt::format("{} shows neither a driver nor a GPU", hosts.front().name);
        auto failure = environment_failure(
            fmt::format("--host: {}, so there is nothing to judge against", who),
            "run it where the driver is loaded, or say what the machine has: --override driver=... "
            "--override gpu=...");
        for (const auto& missing : hosts.front().host.missing)
            failure.diagnostics.front().notes.push_back(fmt::format("{}: {}", missing.what, missing.why));
        return failure;
    }
    return HostValues(matrix, std::move(used), is_fleet, facts).apply(std::move(notes));
}

Result<OnMachine> on_machine(const Matrix& matrix, const Host& host, const Facts& facts) {
    return on_machines(matrix, {{"this machine", host}}, facts);
}

}  // namespace cudamatrix::probe
