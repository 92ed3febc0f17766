"""What networks share: activations, features of the first layer, starts."""
