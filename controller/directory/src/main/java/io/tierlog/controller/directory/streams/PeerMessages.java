/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.streams;

import com.google.protobuf.ByteString;
import io.tierlog.controller.directory.index.BlockPlacement;
import io.tierlog.controller.directory.index.Location;
import io.tierlog.controller.directory.index.PlacementIndex.Batch;
import io.tierlog.controller.directory.index.PlacementIndex.Found;
import io.tierlog.controller.directory.index.Presence;
import io.tierlog.controller.directory.query.Freshness;
import io.tierlog.controller.directory.query.KeyAnswers;
import io.tierlog.directory.v1.PeerAnswer;
import io.tierlog.directory.v1.PeerPlacements;
import io.tierlog.directory.v1.PeerResponse;
import io.tierlog.directory.v1.Placement;
import io.tierlog.directory.v1.Tier;
import java.util.List;

/** Converts between the messages of instances and the types here. Static and without state. */
public final class PeerMessages {
    private PeerMessages() {}

    /** Answers as a message. */
    public static PeerAnswer of(KeyAnswers answers, boolean placements) {
        PeerAnswer.Builder answer = PeerAnswer.newBuilder()
                .setPresences(ByteString.copyFrom(answers.presences()))
                .setFreshness(of(answers.freshness()));
        for (int i = 0; placements && i < answers.presences().length; i++) {
            PeerPlacements.Builder each = PeerPlacements.newBuilder();
            answers.found(i).placements().forEach(placed -> each.addPlacements(of(placed)));
            answer.addPlacements(each);
        }
        return answer.build();
    }

    /** How old an answer may be, as a message. */
    public static io.tierlog.directory.v1.Freshness of(Freshness freshness) {
        return io.tierlog.directory.v1.Freshness.newBuilder()
                .setStale(freshness.stale())
                .setBehindRecords(freshness.behindRecords())
                .setAsOfMs(freshness.asOfMs())
                .build();
    }

    /** A placement as a message. */
    public static Placement of(BlockPlacement placed) {
        return Placement.newBuilder()
                .setOwner(placed.location().owner())
                .setTier(of(placed.location().tier()))
                .setIncarnation(placed.incarnation())
                .setIndex(placed.index())
                .setGeneration(placed.generation())
                .build();
    }

    /** A tier as a message has it. */
    public static Tier of(io.tierlog.schemas.Tier tier) {
        return switch (tier) {
            case UNKNOWN -> Tier.TIER_UNSPECIFIED;
            case DEVICE -> Tier.TIER_DEVICE;
            case HOST -> Tier.TIER_HOST;
            case DISK -> Tier.TIER_DISK;
            case STORE -> Tier.TIER_STORE;
        };
    }

    private static io.tierlog.schemas.Tier tier(Tier tier) {
        return switch (tier) {
            case TIER_UNSPECIFIED, UNRECOGNIZED -> io.tierlog.schemas.Tier.UNKNOWN;
            case TIER_DEVICE -> io.tierlog.schemas.Tier.DEVICE;
            case TIER_HOST -> io.tierlog.schemas.Tier.HOST;
            case TIER_DISK -> io.tierlog.schemas.Tier.DISK;
            case TIER_STORE -> io.tierlog.schemas.Tier.STORE;
        };
    }

    /**
     * Takes one part of another instance's answer.
     *
     * @return false when it has none, or it does not fit the request: then nothing is taken
     */
    static boolean take(PeerResponse response, int part, Batch batch, KeyAnswers answers) {
        PeerAnswer answer = part < response.getAnswersCount() ? response.getAnswers(part) : PeerAnswer.newBuilder().setNotHere(true).build();
        int count = batch.to() - batch.from();
        boolean fits = answer.getPresences().size() == count
                && answer.getPlacementsCount() == (answers.withPlacements() ? count : 0)
                && areCodes(answer.getPresences());
        if (answer.getNotHere() || !fits) {
            return false;
        }
        for (int i = 0; i < count; i++) {
            List<BlockPlacement> placements = answer.getPlacementsCount() == 0
                    ? List.of()
                    : answer.getPlacements(i).getPlacementsList().stream().map(PeerMessages::placed).toList();
            answers.put(batch.order()[batch.from() + i], new Found(Presence.of(answer.getPresences().byteAt(i)), placements));
        }
        io.tierlog.directory.v1.Freshness freshness = answer.getFreshness();
        answers.with(new Freshness(freshness.getStale(), freshness.getBehindRecords(), freshness.getAsOfMs()));
        return true;
    }

    private static boolean areCodes(ByteString codes) {
        for (int i = 0; i < codes.size(); i++) {
            if (codes.byteAt(i) < 1 || codes.byteAt(i) > Presence.UNKNOWN.code()) {
                return false;
            }
        }
        return true;
    }

    private static BlockPlacement placed(Placement message) {
        Location location = new Location(message.getOwner(), tier(message.getTier()));
        return new BlockPlacement(location, message.getIncarnation(), message.getIndex(), message.getGeneration());
    }
}
