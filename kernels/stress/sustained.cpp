#include "kernels/stress/sustained.hpp"

#include "kernels/compute/check.hpp"
#include "kernels/support/record_json.hpp"

namespace cudamatrix::suite {
namespace {

/// Evidence only: how fast a machine is does not turn a test red.
void tell_rounds(Record& record, const SustainedOutputs& outputs) {
    json::Value facts = json::Value::object();
    facts.set("rounds", outputs.rounds);
    if (!outputs.quarters.empty()) {
        json::Value quarters = json::Value::array();
        for (const long rounds : outputs.quarters)
            quarters.push_back(rounds);
        facts.set("rounds_in_quarters", quarters);
    }
    add_evidence(record, "sustained", facts);
}

}  // namespace

SustainedPlan sustained_plan(const Context& context) {
    SustainedPlan plan;
    if (context.part == "interpreted") {
        plan.m = 131;
        plan.n = 130;
        plan.k = 67;
        plan.copies = 2;
    } else if (context.level == "soak") {
        plan.seconds = context.soak_seconds;
    } else {
        plan.seconds = context.level == "full" ? 60 : 30;
    }
    return plan;
}

SgemmInputs sustained_inputs(const SustainedPlan& plan) {
    return product_inputs(kSustainedId, plan.m, plan.n, plan.k);
}

void sustained_note(SustainedOutputs& outputs, const SustainedTally& tally) {
    outputs.rounds += 1;
    outputs.tally.compared += tally.compared;
    outputs.tally.wrong += tally.wrong;
    if (tally.wrong == 0) return;
    if (outputs.wrong_rounds == 0) outputs.first_wrong = outputs.rounds;
    outputs.wrong_rounds += 1;
}

Record sustained_check(const SustainedPlan& plan, const SgemmInputs& inputs, const SustainedOutputs& outputs,
                       const std::string& backend) {
    Record record;
    const auto all = static_cast<unsigned long long>(inputs.results()) * static_cast<unsigned>(plan.copies);
    const auto rounds = static_cast<unsigned long long>(outputs.rounds);
    record.check("rounds", outputs.rounds > 0 && (plan.seconds > 0 || outputs.rounds == plan.rounds),
                 std::to_string(outputs.rounds));
    // Counters of blocks are 32 bits wide, and many rounds make them pass their end.
    const auto ran = [&](const RunFlag& flag, unsigned long long blocks) {
        return flag.blocks == static_cast<unsigned>(blocks) && flag.arch != 0;
    };
    record.check("products_ran",
                 ran(outputs.products, rounds * static_cast<unsigned>(plan.copies * inputs.blocks())),
                 std::to_string(outputs.products.blocks) + " blocks");
    record.check("comparisons_ran",
                 ran(outputs.comparisons, (rounds + 1) * unsigned{kSustainedCompareBlocks}),
                 std::to_string(outputs.comparisons.blocks) + " blocks");
    record.check("finds_blank_memory", outputs.blank.compared == all && outputs.blank.wrong == all,
                 std::to_string(outputs.blank.wrong) + " of " + std::to_string(all) + " words found wrong");
    record.check("all_compared", outputs.tally.compared == all * rounds,
                 std::to_string(outputs.tally.compared) + " of " + std::to_string(all * rounds) + " words");
    record.check("first_is_whole", outputs.first.size() == inputs.results(),
                 std::to_string(outputs.first.size()) + " words");
    if (outputs.first.size() == inputs.results()) check_product(record, inputs, outputs.first);
    const Mismatches touched =
        mismatches(outputs.guard.size(), [&](std::size_t i) { return is_blank(outputs.guard[i]); });
    record.check("nothing_beyond", outputs.guard.size() == kGuard && touched.count == 0,
                 std::to_string(touched.count) + " elements beyond the end were written");
    const bool sound = record.first_failed() == nullptr;
    record.check("every_round_the_same", outputs.tally.wrong == 0,
                 std::to_string(outputs.tally.wrong) + " words in " + std::to_string(outputs.wrong_rounds) +
                     " rounds differ from the first round's, first in round " +
                     std::to_string(outputs.first_wrong));
    record = judge(record, sound ? "not_reproducible" : "mismatch",
                   std::to_string(outputs.rounds) + " rounds of " + std::to_string(plan.copies) +
                       " products " + inputs.shape() + " the same to the bit (" + backend + ")");
    if (record.status == Status::fail && sound && backend == "GPU") {
        record.fault = "F15";
        record.hint = "look at the GPU's memory errors, temperature, power supply and clocks (nvidia-smi -q)";
    }
    tell_rounds(record, outputs);
    return record;
}

}  // namespace cudamatrix::suite
